#!/bin/sh
# Makes sure that the tools named are there; what is missing is installed with the system's package manager, and said
# first. With sudo when not root. Nothing is touched when everything is there.
#
#   deps/need.sh [-q] TOOL...        -q: silent when nothing is missing
#   deps/need.sh --which clang       where it is (clang may be named clang-14): clang, fuzzer, venv
#
# Tools: perl python3 venv clang fuzzer curl nginx haproxy openssl mandoc cargo nm xz bzip2 tar pkg-config
#        hitch nginx-stream stunnel strace
#        system-openssl ca-certificates
#        cc=CC  static-libc=CC  sanitizers=CC        (CC: the compiler that make uses)
set -eu

PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" # where nginx and haproxy live
have() { command -v "$1" >/dev/null 2>&1; }
say() { echo "need: $*" >&2; }

links() { # CC FLAGS...: does a small program link?
    compiler=$1
    shift
    dir=$(mktemp -d)
    printf '#include <stdlib.h>\nint main(void) { return getenv("x") != 0; }\n' >"$dir/a.c"
    if $compiler "$@" -o "$dir/a" "$dir/a.c" -lpthread -lm >/dev/null 2>&1; then status=0; else status=1; fi
    rm -rf "$dir"
    return $status
}

find_clang() { # prints the newest clang that is there
    for name in clang clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang-13; do
        if have "$name"; then echo "$name"; return 0; fi
    done
    return 1
}

find_fuzzer() { # prints a clang that has libFuzzer and the sanitizers
    dir=$(mktemp -d)
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n) { return p == 0 && n; }' >"$dir/a.c"
    status=1
    for name in clang clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang-13; do
        if have "$name" && "$name" -fsanitize=fuzzer,address,undefined -o "$dir/a" "$dir/a.c" >/dev/null 2>&1; then
            echo "$name"
            status=0
            break
        fi
    done
    rm -rf "$dir"
    return $status
}

nginx_has_stream() { nginx -V 2>&1 | tr ' ' '\n' | grep -qx -e --with-stream; }
nginx_modules() { # the folder of nginx's modules
    found=$(nginx -V 2>&1 | tr ' ' '\n' | sed -n 's/^--modules-path=//p')
    echo "${found:-/usr/lib/nginx/modules}"
}

is_there() {
    case $1 in
    perl) have perl && perl -MIPC::Cmd -MFindBin -MFile::Compare -MFile::Copy -MTime::Piece -e1 2>/dev/null ;;
    venv) have python3 && python3 -c 'import venv, ensurepip' 2>/dev/null ;;
    clang) find_clang >/dev/null ;;
    fuzzer) find_fuzzer >/dev/null ;;
    system-openssl) echo '#include <openssl/ssl.h>' | ${CC:-cc} -E - >/dev/null 2>&1 && have pkg-config ;;
    ca-certificates)
        for f in "${SSL_CERT_FILE:-/nonexistent}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem \
            /etc/ssl/cert.pem /etc/ssl/certs/ca-bundle.crt; do
            [ ! -s "$f" ] || return 0
        done
        return 1 ;;
    nginx-stream) have nginx && { nginx_has_stream || [ -e "$(nginx_modules)/ngx_stream_module.so" ]; } ;;
    cc=*) have "${1#cc=}" ;;
    static-libc=*) links "${1#*=}" -static-pie -fPIE ;;
    sanitizers=*) links "${1#*=}" -fsanitize=address,undefined ;;
    *) have "$1" ;;
    esac
}

manager=
for m in apt-get dnf apk zypper pacman pkg; do
    if have "$m"; then manager=$m; break; fi
done

package() { # TOOL: the package(s) that hold it
    case $1:$manager in
    perl:dnf) echo perl ;;
    python3:pkg | python3:pacman) echo python ;;
    curl:apt-get) echo curl ca-certificates ;;
    venv:apt-get) echo python3 python3-venv ;;
    venv:dnf | venv:apk | venv:zypper) echo python3 python3-pip ;;
    venv:*) echo python3 ;;
    fuzzer:apt-get)
        # clang alone does not bring its runtime libraries on every Debian
        version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/\1/p' | head -n 1)
        if [ -n "$version" ] && apt-cache show "libclang-rt-$version-dev" >/dev/null 2>&1; then
            echo "clang libclang-rt-$version-dev"
        else echo clang; fi ;;
    fuzzer:dnf) echo clang compiler-rt libstdc++-devel ;;
    fuzzer:apk) echo clang compiler-rt g++ ;;
    fuzzer:*) echo clang ;;
    xz:apt-get) echo xz-utils ;;
    nm:*) echo binutils ;;
    nginx-stream:apt-get) echo nginx libnginx-mod-stream ;;
    nginx-stream:dnf | nginx-stream:apk) echo nginx nginx-mod-stream ;;
    nginx-stream:*) echo nginx ;;
    stunnel:apt-get) echo stunnel4 ;;
    pkg-config:dnf) echo pkgconf-pkg-config ;;
    pkg-config:apk | pkg-config:pacman | pkg-config:pkg) echo pkgconf ;;
    system-openssl:apt-get) echo libssl-dev pkg-config ;;
    system-openssl:dnf) echo openssl-devel pkgconf-pkg-config ;;
    system-openssl:apk) echo openssl-dev pkgconf ;;
    system-openssl:zypper) echo libopenssl-devel pkg-config ;;
    system-openssl:*) echo openssl ;;
    cargo:pacman | cargo:pkg) echo rust ;;
    cc=clang*:*) echo clang ;;
    cc=*:*) echo gcc ;;
    static-libc=*:apt-get) echo libc6-dev ;;
    static-libc=*:dnf) echo glibc-static ;;
    static-libc=*:zypper) echo glibc-devel-static ;;
    static-libc=*:apk) echo musl-dev ;;
    static-libc=*:*) echo glibc ;;
    sanitizers=clang*:*) package fuzzer ;;
    sanitizers=*:dnf) echo libasan libubsan ;;
    sanitizers=*:zypper) echo libasan8 libubsan1 ;;
    sanitizers=*:apt-get) echo gcc libgcc-"$(${1#*=} -dumpversion 2>/dev/null | cut -d. -f1)"-dev ;;
    sanitizers=*:*) echo gcc ;;
    *) echo "$1" ;;
    esac
}

why() {
    case $1 in
    perl) echo "OpenSSL's build" ;;
    python3 | venv) echo "tests, lint and format" ;;
    clang) echo "building with clang" ;;
    fuzzer) echo "the fuzzers (clang with libFuzzer)" ;;
    curl) echo "downloads, and as a client in tests" ;;
    nginx | haproxy) echo "a real backend in the end-to-end tests" ;;
    hitch | nginx-stream | stunnel) echo "a peer to be compared with in make bench" ;;
    strace) echo "counting system calls" ;;
    openssl) echo "a client in the end-to-end tests" ;;
    mandoc) echo "looking at the manual pages" ;;
    cargo) echo "fetching a source that upstream's site did not give" ;;
    ca-certificates) echo "knowing a server on the Web" ;;
    nm) echo "looking at the symbols of a binary" ;;
    xz | bzip2 | tar) echo "unpacking a source" ;;
    static-libc=*) echo "a binary that needs no library of the system (or: make STATIC_OPENSSL=no)" ;;
    sanitizers=*) echo "the test build" ;;
    *) echo "the build" ;;
    esac
}

quiet=
case ${1:-} in
-q) quiet=1; shift ;;
--which)
    case ${2:-} in
    clang) find_clang ;;
    fuzzer) find_fuzzer ;;
    *) command -v "$2" ;;
    esac
    exit ;;
esac

missing=
for tool in "$@"; do
    is_there "$tool" || missing="$missing $tool"
done
if [ -z "$missing" ]; then
    [ -n "$quiet" ] || say "all there: $*"
    exit 0
fi

if [ -z "$manager" ]; then
    for tool in $missing; do say "missing: $tool, for $(why "$tool")"; done
    say "no package manager that is known here (apt-get, dnf, apk, zypper, pacman, pkg): please install these yourself"
    exit 1
fi

# Debian and Ubuntu images come without package lists
as_root=
if [ "$(id -u)" != 0 ]; then
    if have sudo; then as_root=sudo
    elif have doas; then as_root=doas
    fi
    if [ "$as_root" = sudo ] && [ ! -t 0 ] && ! sudo -n true 2>/dev/null; then as_root=; fi
fi
if [ "$manager" = apt-get ] && ! apt-cache show gcc >/dev/null 2>&1 && { [ "$(id -u)" = 0 ] || [ -n "$as_root" ]; }; then
    say "there are no package lists yet: apt-get update"
    $as_root apt-get update -qq >&2 </dev/null || say "apt-get update failed; going on with what is there"
fi

packages=
for tool in $missing; do
    p=$(package "$tool")
    say "missing: $tool, for $(why "$tool"): package $p"
    packages="$packages $p"
done
case $manager in
apt-get) install="env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 -o Dpkg::Progress-Fancy=0 -o DPkg::Lock::Timeout=300" ;;
dnf) install="dnf install -y -q" ;;
apk) install="apk add -q" ;;
zypper) install="zypper -n -q install" ;;
pacman) install="pacman -S --noconfirm --needed" ;;
pkg) install="pkg install -y" ;;
esac
if [ "$(id -u)" != 0 ] && [ -z "$as_root" ]; then
    say "not root, and no sudo that works without a question. Please run this yourself, then try again:"
    say "    sudo ${install%% -o *}$packages"
    exit 1
fi

# A service that a package would start now has no place in a build: keep it from starting (Debian's policy-rc.d).
policy=/usr/sbin/policy-rc.d
made_policy=
if [ "$manager" = apt-get ] && [ ! -e $policy ]; then
    $as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy" && made_policy=1
fi
trap 'exit 130' INT
trap 'exit 143' TERM

log=$(mktemp)
trap '[ -z "$made_policy" ] || $as_root rm -f $policy; rm -f "$log"' EXIT
say "installing:$packages"
# shellcheck disable=SC2086
run() { $as_root $install $packages </dev/null >"$log" 2>&1 || { tail -n 15 "$log" >&2; return 1; }; }
if ! run; then
    if [ "$manager" = apt-get ]; then # lists may be old
        say "once more, after apt-get update"
        $as_root apt-get update -qq >&2 </dev/null || :
        run || { say "cannot install:$packages"; exit 1; }
    else
        say "cannot install:$packages"
        exit 1
    fi
fi
hash -r
for tool in $missing; do
    is_there "$tool" || { say "$tool is still not there after installing$packages"; exit 1; }
done
