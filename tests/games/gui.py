#!/usr/bin/env python3
"""Real GUIs on a virtual screen: each loads the engine, plays ten moves a side, and is photographed.

`--folder` gets the screenshots, the engine's logs, and a home folder, so that no settings of the user are touched. Whether a
window looks right only a look at the screenshots tells; README.md has the commands and the exit code.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import chess.engine

from nibbler.serve import serve

WIDTH = 1280
PLIES = 20


class Desk:
    """A virtual screen with a window manager, a home folder, and the programs that run there."""

    def __init__(self, folder, zeitnot):
        self.folder, self.zeitnot = folder.resolve(), zeitnot.resolve()
        self.home = self.folder / "home"
        if self.folder.exists() and any(self.folder.iterdir()):
            sys.exit(f"{self.folder} is not empty: name a new folder")
        self.home.mkdir(parents=True)
        self.started = []
        read, write = os.pipe()
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x800x24", "-nolisten", "tcp"]
        self.started.append(subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL))
        os.close(write)
        with os.fdopen(read) as lines:
            display = f":{lines.readline().strip()}"
        self.environment = dict(os.environ, DISPLAY=display, HOME=str(self.home), XDG_CONFIG_HOME=str(self.home / ".config"))
        self.environment |= {"LC_ALL": "C.UTF-8", "GSK_RENDERER": "cairo", "GTK_A11Y": "none"}
        self.environment["PATH"] += ":/usr/games"
        self.start("openbox")

    def engine(self, gui):
        """A script that starts the engine with a log of its own, in the folder of the GUI."""
        folder = self.folder / gui
        folder.mkdir()
        script = folder / "zeitnot"
        script.write_text(f'#!/bin/sh\nexec {self.zeitnot} --logfile={folder}/$$.log "$@"\n')
        script.chmod(0o755)
        return script

    def start(self, *command):
        with (self.folder / f"{Path(command[0]).name}.txt").open("w") as output:
            program = subprocess.Popen(command, env=self.environment, cwd=self.home, stdout=output, stderr=subprocess.STDOUT)
        self.started.append(program)
        return program

    def end(self, program):
        program.terminate()
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()
        self.started.remove(program)

    def close(self):
        for program in reversed(self.started[:]):
            self.end(program)

    def tool(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout

    def window(self, title, seconds=60):
        """The number of the window with this title, which may have to be waited for."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if windows := self.tool("xdotool", "search", "--onlyvisible", "--name", title).split():
                return windows[-1]
            time.sleep(0.5)
        raise SystemExit(f"no window with the title {title} came")

    def click(self, window, x, y):
        self.tool("xdotool", "mousemove", "--window", window, str(x), str(y), "click", "1")

    def photograph(self, name):
        self.tool("scrot", "--overwrite", str(self.folder / f"{name}.png"))
        print(f"  {self.folder / name}.png")

    def log(self, gui):
        return "".join(path.read_text() for path in sorted((self.folder / gui).glob("*.log")))

    def moves(self, gui):
        return re.findall(r"<< bestmove (\S+)", self.log(gui))

    def wait_for_moves(self, gui, wanted, seconds=120):
        end = time.monotonic() + seconds
        while len(self.moves(gui)) < wanted and time.monotonic() < end:
            time.sleep(0.2)


def xboard(desk):
    """A match of one game, which xboard itself ends after ten moves; then the dialog of options."""
    engine = desk.engine("xboard")
    first = ["xboard", "-fcp", "./zeitnot", "-fd", str(engine.parent), "-fUCI", "-size", "49", "-tc", "0:30", "-inc", "0"]
    second = ["-scp", "./zeitnot", "-sd", str(engine.parent), "-sUCI", "-mg", "1", "-adjudicateDrawMoves", "10"]
    game = desk.start(*first, *second)
    desk.wait_for_moves("xboard", PLIES)
    desk.photograph("xboard")
    desk.end(game)

    alone = desk.start(*first)
    board = desk.window("xboard: Zeitnot")
    for x, y in ((272, 15), (330, 118)):  # the menu Engine, in it Engine #1 Settings
        time.sleep(2)
        desk.click(board, x, y)
    dialog = desk.window("Engine Settings")
    time.sleep(1)
    desk.photograph("xboard-options")
    size = re.search(r"Geometry: (\d+)x\d+", desk.tool("xdotool", "getwindowgeometry", dialog))
    desk.end(alone)
    print(f"  the dialog of options: {size[0]}")
    return [] if int(size[1]) <= WIDTH else ["the dialog of options is wider than the screen"]


SCID = """engine { Name Zeitnot Cmd %(engine)s Args {} Dir %(folder)s UCI 1 }
proc ::play {} {
  if {[info procs ::fullname] eq ""} { after 500 ::play; return }; # it is not up yet; then the first engine has a window
  [::docking::find_tbn .fdockanalysisWin1] select .fdockanalysisWin1
  after 1000 { .analysisWin1.b1.bStartStop invoke }
  after 6000 { .analysisWin1.b1.bStartStop invoke }; # Scid takes the move that ends a running analysis for its game's
  after 8000 {
    set ::finishGameCmdVal1 1
    set ::finishGameCmdVal2 1
    after 2000 { .configFinishGame.fbuttons.ok invoke }
    toggleFinishGame 1
  }
}
if {![info exists ::playing]} { set ::playing 1; set ::startup(tip) 0; after 500 ::play }
"""


def scid(desk):
    """Its list of engines is a Tcl script, which here also presses the buttons: analysis, then Finish Game."""
    engine = desk.engine("scid")
    settings = desk.home / ".scid4.7" / "config"
    settings.mkdir(parents=True)
    (settings / "engines.dat").write_text(SCID % {"engine": engine, "folder": engine.parent})
    program = desk.start("scid")
    desk.wait_for_moves("scid", PLIES + 1)  # the end of the analysis is a move, too
    desk.photograph("scid")
    desk.end(program)
    return []


PYCHESS = """
import runpy, sys
from gi.repository import GLib

def play():
    from pychess.compat import create_task
    from pychess.perspectives import perspective_manager
    from pychess.Players.engineNest import discoverer
    from pychess.Utils.GameModel import GameModel
    from pychess.Utils.TimeModel import TimeModel
    from pychess.Utils.const import ARTIFICIAL, BLACK, NORMALCHESS, WHITE
    from pychess.Variants import variants
    engine = discoverer.getEngineByName("Zeitnot")
    games = perspective_manager.get_perspective("games")
    if engine is None or engine.get("recheck") or games is None:
        return True  # it is not up yet
    sides = [(ARTIFICIAL, discoverer.initPlayerEngine, [engine, c, 20, variants[NORMALCHESS], 60, 0, 0, True], "Zeitnot")
             for c in (WHITE, BLACK)]
    create_task(games.generalStart(GameModel(TimeModel(60, 0), variants[NORMALCHESS]), *sides))

GLib.timeout_add(2000, play)
sys.argv[1:] = ["--no-version-check"]
runpy.run_path("/usr/games/pychess", run_name="__main__")
"""


def pychess(desk):
    """PyChess, a Python program, runs inside a script that starts the game as its dialog does."""
    engine = desk.engine("pychess")
    settings = desk.home / ".config" / "pychess"
    settings.mkdir(parents=True)
    entry = {"name": "Zeitnot", "protocol": "uci", "command": str(engine), "country": "unknown", "comment": "", "level": 20}
    (settings / "engines.json").write_text(json.dumps([entry | {"workingDirectory": str(engine.parent), "recheck": True}]))
    off = "show_tip_at_startup=False\ndont_show_externals_at_startup=True\nanalyzer_check=False\ninv_analyzer_check=False"
    (settings / "config").write_text(f"[General]\n{off}\n")
    script = engine.parent / "play.py"
    script.write_text(PYCHESS)
    program = desk.start("/usr/bin/python3", str(script))
    desk.wait_for_moves("pychess", PLIES)
    desk.photograph("pychess")
    desk.end(program)
    return []


GNOME_CHESS = """[Zeitnot]
protocol=uci
binary={}
uci-go-option-easy-0=depth 1
uci-go-option-normal-0=depth 2
"""


def gnome_chess(desk):
    """The script plays White by clicks, with moves of its own engine; the window opens with squares of 48 pixels."""
    engine = desk.engine("gnome-chess")
    settings = desk.home / ".config" / "gnome-chess"
    settings.mkdir(parents=True)
    (settings / "engines.conf").write_text(GNOME_CHESS.format(engine))
    program = desk.start("dbus-run-session", "gnome-chess")
    window = desk.window("White to Move")
    time.sleep(3)
    board, player = chess.Board(), chess.engine.SimpleEngine.popen_uci(str(desk.zeitnot), stderr=subprocess.DEVNULL)
    while board.ply() < PLIES:
        move = player.play(board, chess.engine.Limit(nodes=100)).move
        for square in (move.from_square, move.to_square):
            desk.click(window, 182 + 48 * chess.square_file(square), 442 - 48 * chess.square_rank(square))
            time.sleep(0.3)
        board.push(move)
        answers = board.ply() // 2 + 1
        desk.wait_for_moves("gnome-chess", answers, 20)
        if len(desk.moves("gnome-chess")) < answers:
            break
        board.push_uci(desk.moves("gnome-chess")[-1])
    player.quit()
    time.sleep(2)
    desk.photograph("gnome-chess")
    desk.end(program)
    return []


def nibbler(desk, source):
    """Nibbler's first screen, its own Self-play, and its first screen when the network is missing."""
    engine = desk.engine("nibbler")
    for name, weights in (("nibbler", None), ("nibbler-no-network", "/nowhere/BT4.pb.gz")):
        settings = engine.parent / name
        (settings / "scripts").mkdir(parents=True)
        (settings / "config.json").write_text(json.dumps({"path": str(engine)}))
        entry = {"options": {"WeightsFile": weights} if weights else {}, "search_nodes": None, "search_nodes_special": 200}
        (settings / "engines.json").write_text(json.dumps({str(engine): entry}))
        server = serve(source / "files" / "src", settings, engine)
        page = f"http://127.0.0.1:{server.server_port}/nibbler.html?user_data_path={settings}"
        page += "" if weights else "&behaviour=self_play&after=8"
        flags = ["--no-sandbox", "--test-type", "--no-first-run", "--disable-gpu", "--window-size=1280,780"]
        program = desk.start("chromium", *flags, f"--user-data-dir={engine.parent / 'chromium'}", f"--app={page}")
        desk.window("Nibbler")
        time.sleep(4)
        desk.photograph(f"{name}-start")
        if not weights:
            desk.wait_for_moves("nibbler", PLIES)
            desk.photograph(name)
        desk.end(program)
        server.shutdown()
    missing = desk.log("nibbler").count("<< info string ERROR: cannot read the network file /nowhere/")
    return [] if missing == 1 else [f"the missing network was named {missing} times"]


GUIS = {"xboard": xboard, "scid": scid, "pychess": pychess, "gnome-chess": gnome_chess, "nibbler": nibbler}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("guis", nargs="+", choices=GUIS, metavar="GUI", help=", ".join(GUIS))
    parser.add_argument("--folder", type=Path, required=True, help="for screenshots, logs and settings")
    parser.add_argument("--zeitnot", type=Path, default=Path("target/release/zeitnot"))
    parser.add_argument("--nibbler", type=Path, help="a checkout of Nibbler")
    arguments = parser.parse_args()
    if "nibbler" in arguments.guis and not arguments.nibbler:
        parser.error("nibbler needs --nibbler FOLDER")
    failed, desk = False, Desk(arguments.folder, arguments.zeitnot)
    try:
        for gui in arguments.guis:
            print(gui, flush=True)
            trouble = nibbler(desk, arguments.nibbler) if gui == "nibbler" else GUIS[gui](desk)
            trouble += [error for error in re.findall(r"<< info string (ERROR.*)", desk.log(gui)) if "/nowhere/" not in error]
            moves, wanted = len(desk.moves(gui)), PLIES // 2 if gui == "gnome-chess" else PLIES
            if moves < wanted:
                trouble.append(f"instead of {wanted}")
            print("  " + "; ".join([f"{moves} moves from the engine", *trouble]))
            failed |= bool(trouble)
    finally:
        desk.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
