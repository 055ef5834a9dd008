"""What the tests of YAML, JSON, TOML, Python and Dockerfiles share: reading a text, finding a setting, editing."""

from nccl_logscan.configs.edit import applied
from nccl_logscan.configs.read import read_text, syntax_named


def read(name, text):
    return read_text(name, text if isinstance(text, bytes) else text.encode())


def settings(name, text):
    return {placed.name: placed.value for placed in read(name, text).settings}


def setting(config, name):
    return next(placed for placed in config.settings if placed.name == name)


def edited(config, edit):
    return None if edit is None else applied(config.data, [edit]).decode()


def changed(name, text, key, value):
    config = read(name, text)
    return edited(config, syntax_named(config.syntax).change(config, setting(config, key), value))


def removed(name, text, key):
    config = read(name, text)
    return edited(config, syntax_named(config.syntax).remove(config, setting(config, key)))


def added(name, text, kind, key, value):
    config = read(name, text)
    return edited(config, syntax_named(config.syntax).add(config, kind, key, value))
