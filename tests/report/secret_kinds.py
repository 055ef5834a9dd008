"""Secrets of every kind, made from a seed: no file of ours holds one that a scanner of repositories would report."""

from __future__ import annotations

import base64
import random
import string

_CHANCE = random.Random(20261201)  # noqa: S311 - nobody logs in with these
_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"


def made(length, letters=_LETTERS):
    """Letters and digits at random, with at least one of each."""
    return (
        "".join(_CHANCE.choice(letters) for _ in range(length - 3))
        + "a7B"[: 3 if letters is _LETTERS else 2]
        + ("" if letters is _LETTERS else "0")
    )


def hexed(length):
    return "".join(_CHANCE.choice(_HEX) for _ in range(length - 2)) + "a7"


def upper(length):
    return "".join(_CHANCE.choice(string.ascii_uppercase + "234567") for _ in range(length))


TOKENS = {
    "AWS key id": f"AKIA{upper(16)}",
    "AWS session key id": f"ASIA{upper(16)}",
    "AWS bearer": f"ABIA{upper(16)}",
    "Hugging Face": f"hf_{made(34)}",
    "Hugging Face organisation": f"api_org_{made(34)}",
    "Replicate": f"r8_{made(37)}",
    "GitHub": f"ghp_{made(36)}",
    "GitHub server": f"ghs_{made(36)}",
    "GitHub fine-grained": f"github_pat_{made(22)}_{made(59)}",
    "GitLab": f"glpat-{made(20)}",
    "GitLab runner": f"glrt-{made(20)}",
    "GitLab deploy": f"gldt-{made(20)}",
    "OpenAI": f"sk-proj-{made(48)}",
    "OpenAI service": f"sk-svcacct-{made(48)}",
    "Anthropic": f"sk-ant-api03-{made(80)}",
    "Groq": f"gsk_{made(48)}",
    "xAI": f"xai-{made(60)}",
    "Perplexity": f"pplx-{made(48)}",
    "LangSmith": f"lsv2_pt_{made(32)}_{made(10)}",
    "Pinecone": f"pcsk_{made(60)}",
    "NVIDIA": f"nvapi-{made(64)}",
    "Slack bot": f"xoxb-{_CHANCE.randrange(10**11)}-{made(24)}",
    "Slack app": f"xapp-1-{upper(10)}-{made(40)}",
    "Google key": f"AIza{made(35)}",
    "Google access": f"ya29.{made(60)}",
    "Google client": f"GOCSPX-{made(28)}",
    "Docker": f"dckr_pat_{made(27)}",
    "npm": f"npm_{made(36)}",
    "PyPI": f"pypi-AgEIcHlwaS5vcmc{made(60)}",
    "Databricks": f"dapi{hexed(32)}",
    "DigitalOcean": f"dop_v1_{hexed(64)}",
    "Heroku": f"HRKU-{made(36)}",
    "Tailscale": f"tskey-auth-{made(16)}-{made(32)}",
    "Vault": f"hvs.{made(90)}",
    "Terraform": f"{made(14)}.atlasv1.{made(67)}",
    "Doppler": f"dp.pt.{made(43)}",
    "age": f"AGE-SECRET-KEY-1{upper(58)}",
    "Grafana": f"glsa_{made(32)}_{hexed(8)}",
    "Sentry": f"sntrys_{made(80)}",
    "New Relic": f"NRAK-{upper(27)}",
    "Stripe": f"sk_live_{made(24)}",
    "SendGrid": f"SG.{made(22)}.{made(43)}",
    "Mailgun": f"key-{hexed(32)}",
    "Atlassian": f"ATATT3{made(180)}",
    "Linear": f"lin_api_{made(40)}",
    "Figma": f"figd_{made(40)}",
    "Notion": f"ntn_{made(46)}",
    "Shopify": f"shpat_{hexed(32)}",
    "JSON web token": f"eyJ{made(20)}.eyJ{made(60)}.{made(43)}",
}
"""Told by their own form, wherever they stand."""

VALUES = {
    "a W&B key": hexed(40),
    "a UUID": f"{hexed(8)}-{hexed(4)}-{hexed(4)}-{hexed(4)}-{hexed(12)}",
    "base64": base64.b64encode(made(30).encode()).decode(),
    "an AWS secret": f"{made(19)}/{made(10)}+{made(9)}",
    "short": f"s3cr{made(6)}",
}
"""Told only by the name before them."""

PASSWORDS = {"a word": "swordfish", "signs": "p@ss!w0rd#1", "long": made(24), "digits": "20261201"}
"""Hidden whatever they look like."""

NAMES = (
    "HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "apiKey", "accessToken", "client_secret",
    "api-key", "x-api-key", "PRIVATE-TOKEN", "X-Vault-Token", "s3.secret.key", "secretKey", "AccountKey",
    "SharedAccessKey", "auth_token", "NGC_API_KEY", "COMET_API_KEY", "hub_token", "credentials", "private_key",
    "signing_key",
)  # fmt: skip
PASSWORD_NAMES = ("password", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "passphrase", "smtpPasswd", "Password")

SPELLINGS = {
    "shell": "export {name}={value}",
    "quoted": "{name}='{value}' python train.py",
    "YAML": "  {name}: {value}",
    "JSON": '{{"a": 1, "{name}": "{value}", "b": 2}}',
    "JSON in JSON": '{{"log": "{{\\"{name}\\": \\"{value}\\"}}"}}',
    "Python": "{{'{name}': '{value}', 'x': 1}}",
    "namespace": "Namespace(lr=0.1, {name}='{value}', x=1)",
    "environ": 'os.environ["{name}"] = "{value}"',
    "TOML": '{name} = "{value}"',
    "NCCL": "NCCL INFO {name} set by environment to {value}",
    "arrow": "{name} => {value}",
    "Kubernetes": '{{"name": "{name}", "value": "{value}"}}',
    "behind a prefix": "[rank3]: 2026-12-01 10:00:00,123 INFO {name}={value} and more",
    "encoded": "next=%2Flogin%3F{name}%3D{value}",
}

PHRASES = {
    "bearer": ("Authorization: Bearer {}", "base64"),
    "basic": ("curl -H 'Authorization: Basic {}' https://x", "base64"),
    "another scheme": ("authorization: token {}", "a W&B key"),
    "cookie": ("Cookie: session={}; path=/", "base64"),
    "set-cookie": ("< Set-Cookie: sid={}; HttpOnly", "short"),
    "login of an address": ("git clone https://bob:{}@git.example/a.git", "signs"),
    "password with an at": ("redis://:{}@cache:6379/0", "signs"),
    "token as user": ("pip install git+https://{}@git.example/a.git", "a W&B key"),
    "Sentry address": ("dsn https://{}@o1.ingest.example/4", "a W&B key"),
    "S3": ("GET https://b.s3.example/k?X-Amz-Credential=x&X-Amz-Signature={}&x=1", "a W&B key"),
    "S3 session": ("GET https://b.s3.example/k?X-Amz-Security-Token={}", "base64"),
    "GCS": ("https://storage.example/b/o?X-Goog-Signature={}", "a W&B key"),
    "Azure": ("https://a.blob.example/c?sv=2024&sig={}&se=x", "base64"),
    "OSS": ("https://b.oss.example/k?OSSAccessKeyId=x&Signature={}", "base64"),
    "CloudFront": ("https://d.example/k?Policy=e30&Signature={}&Key-Pair-Id=K1", "base64"),
    "token of an address": ("https://x.example/f?access_token={}&a=1", "a W&B key"),
    "in an address in an address": ("https://x.example/?u=https%3A%2F%2Fb%2Fk%3Fsig%3D1%26sig={}", "a W&B key"),
    "Slack hook": ("POST https://hooks.slack.com/services/{}", "an AWS secret"),
    "Discord hook": ("https://discord.com/api/webhooks/{}", "an AWS secret"),
    "Feishu hook": ("https://open.feishu.cn/open-apis/bot/v2/hook/{}", "a UUID"),
    "DingTalk hook": ("https://oapi.dingtalk.com/robot/send?access_token={}", "a W&B key"),
    "WeCom hook": ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}", "a UUID"),
    "Telegram": ("https://api.telegram.org/bot{}/sendMessage", "a W&B key"),
    "sshpass": ("+ sshpass -p {} ssh node-1", "signs"),
    "mysql": ("mysql -h db -u root -p{} jobs", "signs"),
    "curl": ("curl -s -u bob:{} https://x", "signs"),
    "docker login": ("docker login -u bob -p {} registry.example", "signs"),
    "wandb login": ("wandb login --relogin {}", "a W&B key"),
    "huggingface-cli": ("huggingface-cli login --token {}", "a W&B key"),
    "option": ("train.py --db-password {} --lr 1", "signs"),
    "netrc": ("machine api.wandb.ai login user password {}", "a W&B key"),
    "docker auth": ('"auths": {{"r.example": {{"auth": "{}"}}}}', "base64"),
    "connection": ("Server=db;User Id=sa;Password={};Encrypt=yes", "long"),
    "storage": ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};E=x", "base64"),
    "private key": ("-----BEGIN OPENSSH PRIVATE KEY-----{}", "base64"),
}
"""What stands around a secret, and which of VALUES or PASSWORDS it is."""
