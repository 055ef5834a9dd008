"""`nccl-logscan completion SHELL`: the script by which a shell completes our command lines."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from nccl_logscan.cli import COMPLETION
from nccl_logscan.cli.stdout import printing


@click.command(
    "completion",
    short_help="Print what completes commands in bash, zsh or fish.",
    epilog="""\b
Examples:
  nccl-logscan completion bash > ~/.local/share/bash-completion/completions/nccl-logscan
  nccl-logscan completion zsh > ~/.zfunc/_nccl-logscan   and in ~/.zshrc, before compinit:
                                                         fpath+=~/.zfunc
  nccl-logscan completion fish > ~/.config/fish/completions/nccl-logscan.fish
  eval "$(nccl-logscan completion bash)"                 in this shell alone

\b
Exit codes:
  0 printed, 2 usage, 5 output""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script by which a shell completes commands, options, files, ids of rules and names to explain.

    Bash needs to be 4.4 or newer.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "nccl-logscan", COMPLETION)
    with printing():
        click.echo(script.source_template % script.source_vars())
