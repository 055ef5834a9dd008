"""The forms of secrets in log text: tokens by their own form, values by the name, header, address or command before.

Every expression is linear: a literal first, then single classes with bounds, no nested repeats.
"""

from __future__ import annotations

import re

from nccl_logscan.expressions import deferred

# Made by services so that scanners find them (their documentation says how they begin).
TOKENS = deferred(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}"  # AWS
    r"|(?:hf_|api_org_)[A-Za-z0-9]{16,}|r8_[A-Za-z0-9]{30,}|wandb_v1_[A-Za-z0-9_]{20,}"  # Hugging Face, Replicate, W&B
    r"|(?:ghp_|gho_|ghu_|ghs_|ghr_)[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|(?:glpat-|glptt-|gldt-|glrt-|glcbt-|glsoat-|glft-|glimt-|glagent-|gloas-|glffct-)[A-Za-z0-9_.-]{16,}"  # GitLab
    r"|GR1348941[A-Za-z0-9_-]{16,}"
    r"|sk-[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic and those who copied the form
    r"|(?:gsk_|xai-|pplx-|csk-|fw_|tgp_v1_|lsv2_(?:pt|sk)_|pcsk_|nvapi-)[A-Za-z0-9_-]{20,}"  # other inference services
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}"  # Slack
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"  # Google
    r"|dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[A-Za-z0-9_-]{30,}"  # registries
    r"|dapi[0-9a-f]{32}|dop_v1_[0-9a-f]{40,}|doo_v1_[0-9a-f]{40,}|HRKU-[A-Za-z0-9_-]{20,}|fo1_[A-Za-z0-9_-]{30,}"
    r"|tskey-[A-Za-z0-9-]{16,}|(?:hvs\.|hvb\.|hvr\.)[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}"
    r"|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{30,}|AGE-SECRET-KEY-1[0-9A-Z]{40,}"
    r"|(?:glsa_|glc_)[A-Za-z0-9+/=_]{20,}|sntry[su]_[A-Za-z0-9+/=_-]{20,}|NRAK-[A-Z0-9]{20,}"  # monitoring
    r"|(?:sk_live_|sk_test_|rk_live_|rk_test_|whsec_)[A-Za-z0-9]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|ATATT3[A-Za-z0-9_=-]{20,}|ATCTT3[A-Za-z0-9_=-]{20,}|lin_(?:api|oauth)_[A-Za-z0-9]{20,}|figd_[A-Za-z0-9_-]{20,}"
    r"|ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,}|key-[0-9a-f]{32}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # JSON web token
    r")"
)
PRIVATE_KEY = deferred(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*")
# The body lines of a PEM block have 64 characters, those of an OpenSSH key 70 (RFC 7468; OpenSSH's PROTOCOL.key).
KEY_BODY = deferred(r"[A-Za-z0-9+/]{64}(?:[A-Za-z0-9+/]{6})?")

# A quote, also of a text within a text (\") or in an address (%22).
_QUOTE = r"(?:\\{0,3}[\"'`]|%2[27])?"
_VALUE = r"(?:\\{0,3}\"([^\"\\]+)|\\{0,3}'([^'\\]+)|%2[27]([^\s%]+)|([^\s,;&\"'`\\)}]+))"
# token=x, "token": "x", environ["TOKEN"] = 'x', token%3Dx; NCCL_SITE_TOKEN set by environment to x
_IS = rf"{_QUOTE}\]?\s{{0,2}}(?:=>|:=|[=:]|%3[aAdD])\s{{0,2}}[brf]?"
_SET_TO = r"\sset\s(?:by\s[\w./-]{1,100}\s)?to\s"
# {name: DB_PASSWORD, value: x} of Kubernetes and ECS, in one line.
_APART = rf"{_QUOTE}\s{{0,2}},\s{{0,2}}{_QUOTE}value{_QUOTE}\s{{0,2}}[=:]\s{{0,2}}"

# Names whose value is a secret, whatever it looks like; PWD and OLDPWD are folders.
_PASSWORDS = r"(?:password|passwd|passphrase|[a-z0-9]_pwd|;pwd|; pwd)s?"
_OF_KEYS = (
    *("api", "access", "account", "auth", "deploy", "encryption", "master", "private", "secret", "service", "shared"),
    *("signing", "storage"),
)
_KEY = (
    f"(?:secret|{'|'.join(re.escape(f'{word}{mark}key') for word in _OF_KEYS for mark in ('', ' ', '_', '.', '-'))})s?"
)
# Names whose value may be one: that it looks like one is asked as well.
_MAYBE = rf"(?:{_KEY}|credentials?|tokens?|auth|jwt|[a-z0-9]_pass)"

PASSWORD = deferred(rf"(?i){_PASSWORDS}(?:{_IS}|{_SET_TO}|{_APART}){_VALUE}")
KEY = deferred(
    rf"(?i){_KEY}(?:{_QUOTE}\]?\s{{0,2}}(?:=>|:=|=|%3[dD]|:\s?(?=\\{{0,3}}[\"']))\s{{0,2}}[brf]?|{_SET_TO}){_VALUE}"
)
MAYBE = deferred(rf"(?i){_MAYBE}(?:{_IS}|{_SET_TO}|{_APART}){_VALUE}")
# --token x, token x
MAYBE_BEHIND_BLANK = deferred(rf"(?i)(?:{_PASSWORDS}|{_MAYBE})\s{{1,2}}{_QUOTE}([A-Za-z0-9+/_.~=@!#$%^*-]{{6,}})")
OPTION = deferred(
    rf"(?i)(?:-(?:password|passwd|passphrase|secret|api-?key)|\blogin\s{{1,4}}\S{{1,100}}\s{{1,4}}password)\s{{1,4}}{_VALUE}"
)

AUTHORIZATION = deferred(
    r"(?i)(?:\bauthorization"
    + _IS
    + _QUOTE
    + r"(?:[a-z0-9-]{1,20}\s{1,2})?|\b(?:bearer|basic|digest|negotiate)\s{1,4})"
    r"([A-Za-z0-9+/_.~=-]{12,})"
)
COOKIE = deferred(rf"(?i)\bcookie{_QUOTE}\s{{0,2}}[:=]\s{{0,2}}{_QUOTE}([^\s=\"'\\]{{1,100}}=[^\"'\\]+)")

_IN_URL = r"[^\s/?#\"'<>]"
URL_PASSWORD = deferred(rf"://[^\s/:@?#\"'<>]{{0,200}}:({_IN_URL}{{1,400}})@")
URL_USER = deferred(rf"://([^\s/:@?#\"'<>]{{16,400}})(?::{_IN_URL}{{0,400}})?@")
_PARAMETER = r"(?i)(?:[?&;]|%26|%3f|\\u0026)(?:amp;)?"
_PARAMETER_VALUE = r"((?:(?!%26)[^&\s\"'<>\\]){1,4000})"
SIGNATURE = deferred(
    rf"{_PARAMETER}(?:x-[a-z]{{2,5}}-(?:signature=|credential=|security-token=)|q-signature=|signature=|sig=|policy="
    r"|awsaccesskeyid=|ossaccesskeyid=|googleaccessid=|key-pair-id=|(?:[a-z]{1,10}[_-])?token=|api_?key=|api-key="
    rf"|(?:client[_-])?secret=|password=|passwd=|pwd=){_PARAMETER_VALUE}"
)
PARAMETER = deferred(rf"{_PARAMETER}(?:key=|code=|sign=|auth=){_PARAMETER_VALUE}")
WEBHOOK = deferred(
    r"(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/"
    r"|office\.com/webhook[b2]{0,2}/|/open-apis/bot/v2/hook/|api\.telegram\.org/(?:file/)?bot|hc-ping\.com/)"
    r"([^\s\"'<>\\]+)"
)
_WORDS = r"\s(?:[^\n|;]{0,200}?\s)?"
COMMAND = deferred(
    rf"\b(?:sshpass\s{{1,2}}-p\s{{0,2}}|mysql(?:dump|admin)?{_WORDS}-p|redis-cli{_WORDS}-a\s{{1,2}}"
    rf"|(?:docker|podman|nerdctl|helm registry|az acr)\slogin{_WORDS}-p\s{{1,2}}"
    rf"|curl{_WORDS}(?:-u|--user|--proxy-user)\s{{0,2}}[\"']?[^\s:\"']{{1,100}}:"
    r"|wandb\slogin\s(?:--[a-z-]{1,20}\s){0,3})[\"']?([^\s\"'&|;]{4,})"
)

PASSWORD_NAME = deferred(r"password|passwd|passphrase|[a-z0-9]_pwd\b|pgpass\b", re.IGNORECASE)
SECRET_NAME = deferred(
    r"secret|(?:api|access|account|auth|encryption|private|shared|signing)[_.-]?key|credential|tokens?\b|[a-z]Token\b"
    r"|(?<![A-Za-z])(?:jwt|auth)\b|[a-z0-9]_pass\b",
    re.IGNORECASE,
)
