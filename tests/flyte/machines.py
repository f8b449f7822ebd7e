"""
A machine as after `pip install "tfstream[flyte]"`: entry points, and a home folder of its own.

```python
machine.run("pyflyte", "run", "jobs.py", "wf").stdout
```
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where pytest brings it
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
GROUPS = ("flytekit.plugins", "flyte.plugins.types")

MAINS = {
    "pyflyte": "flytekit.clis.sdk_in_container.pyflyte:main",
    "pyflyte-execute": "flytekit.bin.entrypoint:execute_task_cmd",
    "flyte": "flyte.cli.main:main",
}
"""What the programs of the two SDKs call."""

WITHOUT_PICKLE = """
import sys
from importlib import import_module
import cloudpickle

def refuse(*arguments, **more):
    raise AssertionError("something was pickled")

cloudpickle.dumps = cloudpickle.dump = refuse
main = getattr(import_module({module!r}), {name!r})
for sys.argv in {commands!r}:
    try:
        main()
    except SystemExit as ended:
        if {one!r}:
            raise
        print("ended with", ended.code, flush=True)
"""


def entry_points():
    """The project's own, as an installer writes them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = []
    for group in GROUPS:
        lines += [f"[{group}]"]
        lines += [f"{name} = {target}" for name, target in project["entry-points"][group].items()]
    return "\n".join([*lines, ""])


def unframed(text):
    """What a program printed, in one line, without colours and the frames around it."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[│╭╮╰╯─]", " ", text).split())


class Machine:
    """
    Where programs run. `folder` has their files, `home` is their home folder.

    The programs are those of this Python's environment, or of the one in the folder `programs`.
    """

    def __init__(self, folder, programs=Path(sys.executable).parent):
        self._programs = programs
        self.folder, self.home = folder / "work", folder / "home"
        self._installed = folder / "site"
        for each in (self.folder, self.home, self._installed / "tfstream_test-0.dist-info"):
            each.mkdir(parents=True)
        described = self._installed / "tfstream_test-0.dist-info"
        (described / "entry_points.txt").write_text(entry_points())
        (described / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: tfstream-test\nVersion: 0\n"
        )

    def put(self, *names, folder=Path(__file__).parent):
        """Files of the tests, or of another folder, for the programs."""
        for name in names:
            shutil.copy(folder / name, self.folder / name)

    def run(self, program, *arguments, fails=False, **variables):
        """What became of a program; it fails or not, or None."""
        command = [str(self._programs / program), *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={
                **os.environ,
                "HOME": str(self.home),
                "TMPDIR": str(self.home),
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(self._installed)]),
                "TF_CPP_MIN_LOG_LEVEL": "3",
                "FLYTE_SDK_LOGGING_LEVEL": "30",
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert fails in (None, done.returncode != 0), done.stdout[-3000:] + done.stderr[-3000:]
        return done

    def run_without_pickle(self, program, *arguments, **options):
        """The same of a program of an SDK's, in which nothing can be pickled."""
        return self._run_main(program, [arguments], **options)

    def run_each(self, program, *command_lines, **options):
        """
        The same of several command lines, one after the other in one process: importing takes long.

        What it prints after each is how it ended.
        """
        return self._run_main(program, command_lines, **options)

    def _run_main(self, program, command_lines, **options):
        module, name = MAINS[program].split(":")
        commands = [[program, *map(str, line)] for line in command_lines]
        one = len(commands) == 1
        code = WITHOUT_PICKLE.format(commands=commands, module=module, name=name, one=one)
        return self.run("python", "-c", code, **options)

    def python(self, code, **options):
        """What a new Python prints that runs `code`."""
        return self.run("python", "-W", "error", "-c", code, **options).stdout
