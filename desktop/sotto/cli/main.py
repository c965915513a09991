"""The command line: its parser, its commands and its exit statuses.

Exit statuses: 0 for success; 1 for an error, with one sentence on stderr; 2 for an invalid command line; 130 after
Ctrl-C; 141 when the reader of the output has closed it.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from sotto import __version__, api
from sotto.cli.command_options import add_import_options, add_run_options, port_number
from sotto.cli.exit_codes import ERROR, INTERRUPTED, NOBODY_READS
from sotto.cli.standard_streams import settle_streams
from sotto.errors import CancelledError, FaultError, SottoError

# A command for the app's own use, which the help does not list.
_RUNNER = "runner"

_DESCRIPTION = (
    "Runs language models on this machine. Without a command, opens the app, and loads FILE or opens the sotto:// "
    "ADDRESS if one is given; if the app is already running, brings its window to the front. --quick opens the quick "
    "prompt instead of the window, --toggle shows or hides it, --background starts without a window, --new starts a "
    "new chat."
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv`; return the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    settle_streams()
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except (KeyboardInterrupt, CancelledError):
        return INTERRUPTED
    except SottoError as error:
        if isinstance(error, FaultError) and error.details:
            print(error.details.rstrip(), file=sys.stderr)
        print(f"sotto: {error.message}", file=sys.stderr)
        return ERROR
    except BrokenPipeError:
        # Python flushes stdout once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] == [_RUNNER]:
        return _runner(arguments[1:])
    if arguments[:1] == ["read-pdf"] and len(arguments) == 2:
        # Used by the app only, in a bounded process.
        from sotto.chats.pdf_pages import print_text

        return print_text(Path(arguments[1]))
    if arguments[:1] == ["read-image"]:
        from sotto.images.image_child import print_image

        return print_image(arguments[1:])
    if arguments == ["read-chats"]:
        from sotto.chats.imports.reading_child import print_chats

        return print_chats()
    if arguments == ["follow-grammars"]:
        from sotto.engine.grammar.grammar_child import serve

        return serve()
    if arguments == ["write-blobs"]:
        from sotto.engine.quantizing.quantizing_process import serve as write_blobs

        return write_blobs()
    if arguments == ["fit-adapter"]:
        from sotto.engine.quantizing.adapter_fitting import serve as fit_adapter

        return fit_adapter()
    if arguments == ["try-tokenizer"]:
        from sotto.engine.tokens.tokenizer_trying import try_tokenizer

        return try_tokenizer()
    if not arguments:
        # As after a double-click: the window should not wait for parsers that have nothing to read.
        from sotto.cli import desktop

        return desktop.run()
    parser, commands = parsers()
    if command := commands.get(arguments[0]):
        # Options may come before, between and after the model and the prompt.
        parsed = command.parse_intermixed_args(arguments[1:])
        run: Callable[[argparse.Namespace], int] = parsed.run
        return run(parsed)
    if arguments[0] in ("-h", "--help", "--version"):
        parser.parse_args(arguments[:1])
    return _open_app(parser, list(commands), arguments)


def _open_app(parser: argparse.ArgumentParser, commands: list[str], arguments: list[str]) -> int:
    from sotto.ui.platform.single_instance import Show
    from sotto.ui.state.addresses import is_file_address, is_own_address, path_of_address

    shows = {f"--{show}": show for show in Show if show is not Show.WINDOW}
    wanted = [shows[argument] for argument in arguments if argument in shows]
    if len(wanted) > 1:
        parser.error(f"{' and '.join(f'--{show}' for show in wanted)} cannot be combined")
    addresses = [argument for argument in arguments if is_own_address(argument)]
    if len(addresses) > 1:
        parser.error("only one address can be opened at a time")
    if addresses and wanted:
        parser.error(f"--{wanted[0]} cannot be combined with an address")
    # Desktops name files by their addresses.
    paths = [
        os.fspath(path_of_address(argument)) if is_file_address(argument) else argument
        for argument in arguments
        if argument not in shows and argument not in addresses
    ]
    for argument in paths:
        if "\0" in argument:
            parser.error(f"{argument!r} has a null byte, which no path has")
        if argument.startswith("-"):
            parser.error(f"unknown option {argument}; the options are {', '.join(shows)}")
        # A missing file whose name is not a path was meant as a command; a missing path is reported in the window.
        if not Path(argument).exists() and os.sep not in argument:
            parser.error(f"{argument!r} is neither a command nor a file; the commands are {', '.join(commands)}")
    from sotto.cli import desktop

    show = wanted[0] if wanted else Show.WINDOW
    return desktop.run(show, tuple(Path(argument) for argument in paths), next(iter(addresses), ""))


def _list(parsed: argparse.Namespace) -> int:
    from sotto.cli import listing

    return listing.list_models(as_json=parsed.json)


def _show(parsed: argparse.Namespace) -> int:
    from sotto.cli import listing

    if parsed.modelfile:
        return listing.show_modelfile(parsed.model)
    return listing.show(parsed.model, as_json=parsed.json)


def _verify(parsed: argparse.Namespace) -> int:
    from sotto.cli import listing

    return listing.verify_model(parsed.model)


def _pull(parsed: argparse.Namespace) -> int:
    from sotto.cli import pull

    return pull.pull(parsed)


def _import(parsed: argparse.Namespace) -> int:
    from sotto.cli.making import import_command

    return import_command.import_model(parsed)


def _copy(parsed: argparse.Namespace) -> int:
    from sotto.cli.making import store_changes

    return store_changes.copy(parsed.model, parsed.name, as_json=parsed.json)


def _rename(parsed: argparse.Namespace) -> int:
    from sotto.cli.making import store_changes

    return store_changes.rename(parsed.model, parsed.name, as_json=parsed.json)


def _delete(parsed: argparse.Namespace) -> int:
    from sotto.cli.making import store_changes

    return store_changes.delete(parsed.names, yes=parsed.yes, undo=parsed.undo, as_json=parsed.json)


def _prune(parsed: argparse.Namespace) -> int:
    from sotto.cli.making import store_changes

    return store_changes.prune(whole_trash=parsed.trash, dry_run=parsed.dry_run, as_json=parsed.json)


def _create(parsed: argparse.Namespace) -> int:
    from sotto.cli.making import create

    return create.create(parsed)


def _push(parsed: argparse.Namespace) -> int:
    from sotto.cli.making import push

    return push.push(parsed)


def _search(parsed: argparse.Namespace) -> int:
    from sotto.cli.online import model_search

    return model_search.search(" ".join(parsed.words), as_json=parsed.json)


def _run(parsed: argparse.Namespace) -> int:
    from sotto.cli import run

    return run.run(parsed)


def _embed(parsed: argparse.Namespace) -> int:
    from sotto.cli import embed

    return embed.embed(parsed.model, parsed.text, parsed.file, parsed.dimensions, truncate=parsed.truncate)


def _bench(parsed: argparse.Namespace) -> int:
    from sotto.cli.measuring import bench

    return bench.bench(parsed.model, parsed.draft, parsed.adapter, as_json=parsed.json, quick=parsed.quick)


def _measure(parsed: argparse.Namespace) -> int:
    from sotto.cli.measuring import measure

    return measure.measure(parsed.model, parsed.against, as_json=parsed.json)


def _plan(parsed: argparse.Namespace) -> int:
    from sotto.cli import plan

    return plan.plan(parsed.model, parsed.num_ctx, parsed.kv_bits, parsed.draft, parsed.adapter, as_json=parsed.json)


def _cache(parsed: argparse.Namespace) -> int:
    from sotto.cli import cache

    return cache.cache(parsed)


def _serve(parsed: argparse.Namespace) -> int:
    from sotto.cli import serve

    return serve.serve(parsed)


def _doctor(parsed: argparse.Namespace) -> int:
    from sotto.cli import doctor

    return doctor.bug_report() if parsed.report else doctor.doctor()


def _runner(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog=f"sotto {_RUNNER}", description="Run an engine for the process that starts this one."
    )
    parser.add_argument("--model", metavar="MODEL", help="the model to load first")
    parser.add_argument(
        "--port", type=port_number, default=0, metavar="N", help="the port to listen on; 0 for any free port"
    )
    parsed = parser.parse_args(arguments)
    from sotto.cli import runner

    return runner.serve(parsed.model, parsed.port)


def parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the whole command line, and those of the commands by name."""
    parser = argparse.ArgumentParser(
        prog="sotto",
        description=_DESCRIPTION,
        usage="sotto [--quick | --toggle | --background | --new] [FILE ... | ADDRESS] | sotto COMMAND ...",
        epilog="MODEL is a name from `sotto list`, a manifest file or a folder. `sotto COMMAND --help` lists the "
        "options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"sotto {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog="sotto")
    by_name: dict[str, argparse.ArgumentParser] = {}

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        by_name[name] = added
        return added

    def model(added: argparse.ArgumentParser) -> None:
        added.add_argument("model", metavar="MODEL", help="a name, a manifest file or a folder")

    def json_flag(added: argparse.ArgumentParser, text: str) -> None:
        added.add_argument("--json", action="store_true", help=text)

    def draft(added: argparse.ArgumentParser) -> None:
        added.add_argument(
            "--draft",
            metavar="MODEL",
            help="a smaller model with the same vocabulary, for speculative decoding; `own` for MODEL's "
            "own; `none` for nothing at all, not even a prediction head",
        )

    def adapter(added: argparse.ArgumentParser) -> None:
        added.add_argument(
            "--adapter",
            action="append",
            metavar="DIR",
            help="add a LoRA adapter of mlx-lm or PEFT to MODEL, from its folder, or as a GGUF file; can be repeated; "
            "`none` for not even the one that was chosen in the window",
        )

    json_flag(command("list", _list, "List the models on this machine."), "print JSON")
    show = command("show", _show, "Show the details of a model.")
    model(show)
    json_flag(show, "print JSON")
    show.add_argument("--modelfile", action="store_true", help="print a Modelfile that makes the same model")
    model(command("verify", _verify, "Check a model's files against their digests."))
    pull = command("pull", _pull, "Download a model, or resume a download.")
    pull.add_argument(
        "model",
        metavar="NAME",
        help="[host/][namespace/]model[:tag] of a registry, registry.ollama.ai by default; or ORG/NAME[@REVISION] or "
        "hf.co/ORG/NAME[@REVISION][:QUANTIZATION] of Hugging Face, or its address there",
    )
    pull.add_argument("--limit", metavar="SIZE", help="limit the speed to SIZE per second, for example 2M")
    pull.add_argument("--insecure", action="store_true", help="use HTTP without TLS, for a registry on this machine")
    add_import_options(command("import", _import, "Import a model from a folder or a GGUF file, or resume an import."))
    copy = command("copy", _copy, "Copy a model, also one of another program, into Sotto's own store.")
    model(copy)
    copy.add_argument("name", metavar="NAME", help="the name of the copy")
    json_flag(copy, "print JSON")
    rename = command("rename", _rename, "Rename a model in Sotto's own store.")
    rename.add_argument("model", metavar="MODEL", help="the whole name of the model")
    rename.add_argument("name", metavar="NAME", help="its new name")
    json_flag(rename, "print JSON")
    delete = command("delete", _delete, "Delete models from Sotto's own store.")
    delete.add_argument("names", metavar="NAME", nargs="*", help="the whole name of a model")
    delete.add_argument("--yes", action="store_true", help="do not ask whether to delete them")
    delete.add_argument("--undo", action="store_true", help="bring back NAME, or the model that was deleted last")
    json_flag(delete, "print JSON")
    prune = command("prune", _prune, "Delete files that no model has needed for an hour.")
    prune.add_argument("--dry-run", action="store_true", help="show what would be freed, and delete nothing")
    prune.add_argument("--trash", action="store_true", help="erase models that were deleted within the last hour, too")
    json_flag(prune, "print JSON")
    create = command("create", _create, "Make a model from another, with a system prompt, options or a template.")
    create.add_argument("model", metavar="NAME", help="the name of the new model; one of that name is replaced")
    create.add_argument(
        "-f",
        "--file",
        metavar="FILE",
        default="Modelfile",
        help="a Modelfile, as Ollama's; `-` for stdin, Modelfile by default",
    )
    create.add_argument(
        "--quantize",
        metavar="TYPE",
        default="",
        help="the recipe for the weights of a folder or GGUF file that FROM names",
    )
    create.add_argument(
        "--insecure", action="store_true", help="use HTTP without TLS to download what FROM names, on this machine"
    )
    json_flag(create, "print JSON")
    push = command("push", _push, "Upload a model to the registry that its name begins with.")
    push.add_argument("model", metavar="NAME", help="a model of Sotto's own store: host/namespace/model[:tag]")
    push.add_argument("--insecure", action="store_true", help="use HTTP without TLS, for a registry on this machine")
    json_flag(push, "print JSON")
    search = command("search", _search, "Find models to download; without WORDS, those that Sotto suggests.")
    search.add_argument("words", metavar="WORDS", nargs="*", help="what to search for on Hugging Face, which gets it")
    json_flag(search, "print JSON")
    bench = command("bench", _bench, "Measure how fast a model runs here.")
    model(bench)
    draft(bench)
    adapter(bench)
    bench.add_argument("--quick", action="store_true", help="take less time, with less precise results")
    json_flag(bench, "print JSON")
    measure = command("measure", _measure, "Measure what quantization costs a model, beside its original.")
    model(measure)
    measure.add_argument("--against", metavar="ORIGINAL", required=True, help="the model before it was quantized")
    json_flag(measure, "print JSON")
    plan = command("plan", _plan, "Show how much memory a model needs, and whether it fits.")
    model(plan)
    draft(plan)
    adapter(plan)
    plan.add_argument("--num-ctx", type=int, metavar="N", help="plan for N tokens of context")
    plan.add_argument("--kv-bits", type=int, choices=(4, 8, 16), help="plan with keys and values in 4, 8 or 16 bits")
    json_flag(plan, "print JSON")
    cache = command("cache", _cache, "Show, limit or delete the prompt cache.")
    cache.add_argument("--memory", metavar="SIZE", help="keep at most SIZE in memory, for example 4G; auto by default")
    cache.add_argument("--disk", metavar="SIZE", help="keep at most SIZE on disk; 0 for nothing, auto by default")
    cache.add_argument("--kv-bits", choices=("4", "8", "16", "off"), help="store keys and values in 4, 8 or 16 bits")
    cache.add_argument("--prediction", choices=("on", "off"), help="whether models use prediction heads of their own")
    cache.add_argument("--wipe", action="store_true", help="delete the cache on disk")
    json_flag(cache, "print JSON")
    serve = command("serve", _serve, "Serve models to other programs over HTTP.")
    serve.add_argument("--host", default=api.HOST, metavar="H", help=f"the address to listen on; {api.HOST} by default")
    serve.add_argument(
        "--port", type=port_number, default=api.PORT, metavar="N", help=f"the port; {api.PORT} by default"
    )
    serve.add_argument(
        "--key",
        metavar="K",
        help="the API key that clients must send, required if other machines can connect; SOTTO_API_KEY by default",
    )
    serve.add_argument(
        "--origins",
        metavar="O",
        help="web pages that may use the models, separated by commas, such as https://example.com or "
        "http://localhost:*; OLLAMA_ORIGINS by default",
    )
    embed = command("embed", _embed, "Compute the embeddings of texts, and print one JSON object per line.")
    model(embed)
    embed.add_argument("text", metavar="TEXT", nargs="*", help="a text; by default, each line of stdin is one")
    embed.add_argument("--file", metavar="FILE", type=Path, help="read the texts from FILE, one per line")
    embed.add_argument(
        "--dimensions", type=int, metavar="N", help="shorten embeddings to N dimensions, and normalize them again"
    )
    embed.add_argument(
        "--no-truncate",
        dest="truncate",
        action="store_false",
        help="fail on a text that is too long instead of truncating it",
    )
    command("doctor", _doctor, "Check this machine and this installation.").add_argument(
        "--report", action="store_true", help="print what a bug report needs, without names, home folders and keys"
    )
    run = command("run", _run, "Ask a model; without PROMPT, read it from a pipe or start a chat.")
    model(run)
    draft(run)
    adapter(run)
    add_run_options(run)
    return parser, by_name
