"""The certificates of the benchmark: one of each kind, made in memory, in the forms that the contestants read."""

import datetime
import os

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

KINDS = {
    "p256": ("EC 256", lambda: ec.generate_private_key(ec.SECP256R1())),
    "p384": ("EC 384", lambda: ec.generate_private_key(ec.SECP384R1())),
    "rsa2048": ("RSA 2048", lambda: rsa.generate_private_key(65537, 2048)),
    "rsa4096": ("RSA 4096", lambda: rsa.generate_private_key(65537, 4096)),
}


def key_text(kind):
    """How the load generator names this key."""
    return KINDS[kind][0]


class Certificate:
    """Files: both (key, then certificate), key, certificate."""

    def __init__(self, kind, directory):
        key = KINDS[kind][1]()
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bench.test")])
        now = datetime.datetime.now(datetime.timezone.utc)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=7))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("bench.test")]), critical=False)
            .sign(key, hashes.SHA256())
        )
        encoding = serialization.Encoding.PEM
        key_pem = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        certificate_pem = certificate.public_bytes(encoding)
        self.both = self._write(directory / (kind + ".pem"), key_pem + certificate_pem)
        self.key = self._write(directory / (kind + ".key"), key_pem)
        self.certificate = self._write(directory / (kind + ".crt"), certificate_pem)

    @staticmethod
    def _write(path, data):
        path.write_bytes(data)
        os.chmod(path, 0o600)
        return path


class Certificates:
    """Made when first asked for."""

    def __init__(self, directory):
        self.directory = directory
        self.made = {}

    def get(self, kind):
        if kind not in self.made:
            self.made[kind] = Certificate(kind, self.directory)
        return self.made[kind]
