"""What the end-to-end tests share: halter as a process, backends, clients, real peers, certificates, waiting."""
