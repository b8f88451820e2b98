"""Keys are hidden by shape and by value. Other long texts stay."""

import base64
import hashlib
import json
import uuid
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.text.redact import MASK, Redactor

# Joined here, so that no scanner reports this file as a leak.
HEX = "0123456789abcdef"
LONG = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{LONG}{LONG[:28]}\n{LONG}==\nshort=\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Incorrect API key provided: sk-proj-abcdef0123456789.", f"Incorrect API key provided: {MASK}."),
        ("https://x/v1?key=abc123&alt=sse", f"https://x/v1?key={MASK}&alt=sse"),
        ("Authorization: Bearer abcdefgh12345", f"Authorization: Bearer {MASK}"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {MASK}"),
        ('{"X-Api-Key": "abc123def456"}', f'{{"X-Api-Key": "{MASK}"}}'),
        ("Cookie: session=abc; theme=dark\nHost: x", f"Cookie: {MASK}\nHost: x"),
        ("http://user:pass@proxy:3128", f"http://{MASK}@proxy:3128"),
        ("DATABASE_PASSWORD=hunter2!\nNEXT=1", f"DATABASE_PASSWORD={MASK}\nNEXT=1"),
        ('export STRIPE_SECRET="a-b-c-d-e-f"', f'export STRIPE_SECRET="{MASK}"'),
        (
            "Server=db;User Id=sa;Password=Passw0rd!;Encrypt=no",
            f"Server=db;User Id=sa;Password={MASK};Encrypt=no",
        ),
        ("host=db password=pa55word dbname=x", f"host=db password={MASK} dbname=x"),
        (f'aws_secret_access_key = "{LONG}/+aB"', f'aws_secret_access_key = "{MASK}"'),
        (f"//registry.example/:_authToken={LONG}", f"//registry.example/:_authToken={MASK}"),
        (f"a\n{PEM}\nb", f"a\n{MASK}\nb"),
        (f"key: {json.dumps(PEM)}", f'key: "{MASK}"'),
        ("\n".join(f"+{line}" for line in PEM.split("\n")), f"+{MASK}"),
        (PEM[: len(PEM) - 40], MASK),
    ],
)
def test_a_secret_is_hidden_and_the_text_around_it_stays(text: str, clean: str) -> None:
    assert Redactor({})(text) == clean


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-" + "api03-abcDEF_0123-456789",
        "sk-" + LONG,
        "sk_" + "live_" + LONG,
        "rk_" + "test_" + LONG,
        "gsk_" + LONG,
        "xai-" + LONG,
        "hf_" + LONG,
        "npm_" + LONG,
        "ghp_" + LONG,
        "ghs_" + LONG,
        "github_" + "pat_11AAAA_" + LONG,
        "glpat-" + LONG,
        "xox" + "b-123456789012-" + LONG,
        "AIza" + "SyA" + LONG[:32],
        "ya29." + LONG,
        "AKIA" + "IOSFODNN7EXAMPLE",
        "pypi-AgE" + "IcHlwaS5vcmc" + LONG,
        "SG." + LONG[:22] + "." + LONG,
        "dapi" + HEX * 2,
        "hvs." + LONG,
        "eyJ" + LONG + "." + LONG + "." + LONG,
    ],
)
@pytest.mark.parametrize("around", ["{}", "key={},", 'x("{}")', "https://h/{}/p", "said: {}."])
def test_the_keys_of_many_issuers_are_known_by_their_shape(key: str, around: str) -> None:
    clean = Redactor({})(around.format(key))
    assert key[-12:] not in clean
    assert MASK in clean


@pytest.mark.parametrize(
    "text",
    [
        hashlib.sha1(b"commit").hexdigest(),
        f"sha256:{hashlib.sha256(b'x').hexdigest()}  file.tar.gz",
        f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(b"x").digest()).decode()}"',
        str(uuid.UUID(int=12345678901234567890)),
        "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 40).decode(),
        "the task-oriented disk-based design; sk-learn-contrib; pk_user_id_column",
        "def login(password: str, token: str | None = None) -> Token:",
        "connect(host=host, password=password, token=settings.token)",
        "api_key = os.environ['OPENAI_API_KEY']; secret = get_secret(name)",
        'TOKEN="$1"; API_KEY=${API_KEY:-} PASSWORD=$(pass show x)',
        "MAX_TOKENS=4096 TOKEN_LIMIT=1000 SSH_KEY=~/.ssh/id_ed25519 SECRET_FILE=/run/secrets/x",
        "https://{user}:{password}@host/ and http://$USER:$PASS@host",
        "git@github.com:owner/name.git ssh://git@host:22/x",
        "https://example.com/a?page=2&sort=key",
        "the bearer of this letter; Authorization: required; cookie: string",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "AKIA and AIza are prefixes; eyJ too",
    ],
)
def test_text_without_a_secret_is_unchanged(text: str) -> None:
    assert Redactor({})(text) == text


def test_known_values_are_hidden_whatever_their_shape() -> None:
    redact = Redactor(
        {"MISTRAL_API_KEY": "plainvalue", "MY_SECRET": "plainvalue-longer", "HOME": "/home/x", "A_KEY": "ab"}
    )
    assert redact("plainvalue-longer plainvalue /home/x ab") == f"{MASK} {MASK} /home/x ab"


def test_words_numbers_and_folders_do_not_count_as_secrets() -> None:
    redact = Redactor(
        {
            "POSTGRES_PASSWORD": "postgres",
            "GNOME_KEYRING_CONTROL": "/run/user/1000/keyring",
            "MAX_TOKENS": "1000000",
            "TOKENIZERS_PARALLELISM": "false",
            "KEYMAP": "us-intl",
        }
    )
    assert redact.forms == ()


@pytest.mark.parametrize("before", ["", "a", "ab", "user:", "user1:"])
def test_a_known_value_is_found_in_its_encodings(before: str) -> None:
    value = 'p@ss/w+rd "ü" 42?'
    redact = Redactor({"SOME_SECRET": value})
    whole = f"{before}{value}"
    forms = [whole, quote(whole, safe=""), json.dumps(whole)[1:-1], whole.encode().hex()]
    forms += [base64.b64encode(whole.encode()).decode(), base64.urlsafe_b64encode(whole.encode()).decode()]
    assert [form for form in forms if MASK not in redact.known(f"<{form}>")] == []


def test_only_known_values_are_hidden_from_the_model() -> None:
    redact = Redactor({"EXA_API_KEY": "known-value-1"})
    assert redact.known("known-value-1 sk-ant-abcdef0123456789") == f"{MASK} sk-ant-abcdef0123456789"


def test_more_values_can_be_given() -> None:
    assert Redactor({}, ["given by hand"])("it was given by hand.") == f"it was {MASK}."


def test_a_json_text_stays_one() -> None:
    text = json.dumps(
        {"command": f'curl -H "Authorization: Bearer {LONG}" x', "auth": {"password": "abc"}, "n": 1}
    )
    assert json.loads(Redactor({}).json_text(text)) == {
        "command": f'curl -H "Authorization: Bearer {MASK}" x',
        "auth": {"password": MASK},
        "n": 1,
    }


@pytest.mark.parametrize(
    "text",
    ['{"path": "a.py",  "n": 1}', "[]", "not json", '{"half": "wri', f'{{"n": {"9" * 5_000}}}'],
    ids=["object", "list", "words", "half", "digits"],
)
def test_a_json_text_without_secrets_is_unchanged(text: str) -> None:
    assert Redactor({}).json_text(text) == text


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    redact = Redactor({"A_SECRET": "a1b2c3d4"})
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "piece", ["eyJ-", "sk-", "password=", "-----BEGIN PRIVATE KEY-----\n", "://a", "bearer "]
)
def test_many_beginnings_of_secrets_are_read_in_one_pass(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    assert len(Redactor({})(text)) <= len(text) + len(MASK) * (len(text) // len(piece))


def test_an_empty_secret_hides_nothing() -> None:
    redact = Redactor({})
    redact.learn("")
    assert redact("as it is") == "as it is"
