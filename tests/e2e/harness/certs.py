"""Certificates of the tests, all under one CA; made once a session."""

import datetime
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID


class Certificate:
    """A certificate with its key, and the files that hold them."""

    def __init__(self, key, certificate, directory, stem, chain=()):
        self.key = key
        self.certificate = certificate
        self.der = certificate.public_bytes(serialization.Encoding.DER)
        self.key_pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        self.certificate_pem = certificate.public_bytes(serialization.Encoding.PEM)
        self.chain_pem = b"".join(c.public_bytes(serialization.Encoding.PEM) for c in chain)
        self.pem = self.key_pem + self.certificate_pem + self.chain_pem
        self.path = self._write(directory / (stem + ".pem"), self.pem)
        self.key_path = self._write(directory / (stem + ".key"), self.key_pem)
        self.certificate_path = self._write(directory / (stem + ".crt"), self.certificate_pem + self.chain_pem)

    @staticmethod
    def _write(path, data):
        path.write_bytes(data)
        os.chmod(path, 0o600)
        return path


def make_key(kind):
    if kind == "rsa":
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return ec.generate_private_key(ec.SECP256R1())


class CertificateStore:
    """Makes certificates below its CA. The default, rsa, wildcard, exact, many and chained ones are ready."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._serial = 0
        self.ca_key = make_key("ec")
        self.ca = self._sign("halter test CA", [], self.ca_key, issuer=None, ca=True)
        self.ca_path = self.directory / "ca.pem"
        self.ca_path.write_bytes(self.ca.public_bytes(serialization.Encoding.PEM))
        os.chmod(self.ca_path, 0o644)
        self.intermediate_key = make_key("ec")
        self.intermediate = self._sign(
            "halter test intermediate", [], self.intermediate_key, issuer=(self.ca, self.ca_key), ca=True
        )
        self.default = self.make("default", ["default.test", "localhost", "127.0.0.1", "::1"])
        self.rsa = self.make("rsa", ["rsa.test", "localhost", "127.0.0.1"], kind="rsa")
        self.wildcard = self.make("wildcard", ["*.wild.test"])
        self.exact = self.make("exact", ["www.wild.test"])
        self.many = self.make("many", ["a.many.test", "b.many.test", "C.Many.Test"])
        self.chained = self.make("chained", ["chained.test"], intermediate=True)
        self.cn_only = self.make("cn-only", [], common_name="cn-only.test")

    def make(self, stem, names, kind="ec", common_name=None, intermediate=False, directory=None):
        key = make_key(kind)
        issuer = (self.intermediate, self.intermediate_key) if intermediate else (self.ca, self.ca_key)
        certificate = self._sign(common_name or names[0], names, key, issuer)
        chain = (self.intermediate,) if intermediate else ()
        return Certificate(key, certificate, Path(directory or self.directory), stem, chain)

    def _sign(self, common_name, names, key, issuer, ca=False):
        self._serial += 1
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer[0].subject if issuer else subject)
            .public_key(key.public_key())
            .serial_number(self._serial)
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if names:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_alternative(n) for n in names]), critical=False
            )
        if ca:
            usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
            builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        if issuer:
            identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer[1].public_key())
            builder = builder.add_extension(identifier, critical=False)
        return builder.sign(issuer[1] if issuer else key, hashes.SHA256())


def _alternative(name):
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
