"""The command: where it listens, what it refuses, and how it ends."""

from __future__ import annotations

import ssl
import subprocess
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.command import run
from tests.serve.server import serving


def _opener(*handlers: urllib.request.BaseHandler) -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    words = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -keyout key -out crt"
    )
    extension = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(["openssl", *words.split(), *extension], cwd=folder, check=True, capture_output=True)
    return folder / "crt", folder / "key"


def test_it_serves_until_ctrl_c(pdb: Path) -> None:
    with serving(pdb) as server:
        assert urlsplit(server.address).hostname == "127.0.0.1"
        with _opener().open(server.address, timeout=30) as answer:
            assert "What the database holds" in answer.read().decode()
            assert "server" not in answer.headers
        code, _, err = server.end()
    assert (code, err) == (0, "")


def test_over_tls_with_a_token(pdb: Path, certificate: tuple[Path, Path]) -> None:
    crt, key = certificate
    options = ("--host", "0.0.0.0", "--name", "localhost", "--certificate", str(crt), "--key", str(key))
    trust = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(crt)))
    with serving(pdb, *options) as server:
        assert server.address.startswith("https://localhost:")
        plain, _, token = server.address.partition("?token=")
        assert len(token) >= 32
        with pytest.raises(urllib.error.HTTPError, match="401"):
            _opener(trust).open(plain, timeout=30)
        jar = CookieJar()
        visitor = _opener(trust, urllib.request.HTTPCookieProcessor(jar))
        with visitor.open(server.address, timeout=30) as answer:
            assert answer.url == plain
        with visitor.open(f"{plain}page/cpu", timeout=30) as answer:
            assert answer.status == 200
        assert [cookie.secure for cookie in jar] == [True]
        code, _, err = server.end()
    assert (code, err) == (0, "")


def test_a_token_on_the_own_address(pdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLEXLENS_SERVE_TOKEN", "a-token-of-one's-own")
    with serving(pdb, "--token") as server:
        assert server.address.endswith("?token=a-token-of-one%27s-own")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            _opener().open(server.address.partition("?")[0], timeout=30)


def test_another_address_needs_tls(pdb: Path, tmp_path: Path) -> None:
    done = run("serve", pdb, "--host", "0.0.0.0", cwd=tmp_path)
    assert done.returncode == 2
    assert "need TLS: give --certificate and --key" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--certificate", "x.crt"), 2, "--certificate is given without --key"),
        (("--key", "x.key"), 2, "--key is given without --certificate"),
        (("--certificate", "x.crt", "--key", "x.key"), 3, "this certificate and its key cannot be used"),
        (("--host", "192.0.2.1", "--no-tls"), 2, "cannot listen on 192.0.2.1"),
        (("--memory", "much"), 2, "'much' is not a storage size"),
    ],
)
def test_wrong_options(pdb: Path, tmp_path: Path, options: tuple[str, ...], code: int, said: str) -> None:
    done = run("serve", pdb, "--port", "0", *options, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_a_guessable_token_is_refused(pdb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLEXLENS_SERVE_TOKEN", "short")
    done = run("serve", pdb, cwd=tmp_path)
    assert done.returncode == 2
    assert "PLEXLENS_SERVE_TOKEN is not a valid token" in done.stderr


def test_what_is_no_database(tmp_path: Path) -> None:
    done = run("serve", tmp_path, cwd=tmp_path)
    assert done.returncode == 2
    assert "this is not a performance database" in done.stderr


def test_a_port_that_is_taken(pdb: Path, tmp_path: Path) -> None:
    with serving(pdb) as server:
        done = run("serve", pdb, "--port", str(urlsplit(server.address).port), cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot listen on 127.0.0.1 port" in done.stderr
