#!/usr/bin/env python3
"""Chains of inlined calls by profd-lines-of against other symbolizers, address by address, over programs that are built here by every
compiler and in every form of debug information at hand (tests/fixtures/record/native-lines.sh).

usage: native_lines_test.py PROFD-LINES-OF. Exits 77 (skipped) where there is no llvm-symbolizer or no compiler.

The truth is llvm-symbolizer, asked about a file of the same code where it cannot read the form (zstd; names after dwz; calls in clang's
.dwo). What may differ is in ALLOWED, each with the evidence that is asked for.
"""
import bisect
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST = 20000  # addresses asked of a large program; of others every byte
LINES_OF = os.path.abspath(sys.argv[1])
LLVM = shutil.which("llvm-symbolizer-14") or shutil.which("llvm-symbolizer")
Frame = collections.namedtuple("Frame", "name file line column")


def run(*command, text=None, check=True, cwd=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=cwd, timeout=300)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def asked(addresses):
    return "".join(f"{address:#x}\n" for address in addresses)


def blocks(out):
    """Lines between empty ones."""
    return [block.split("\n") for block in out.strip("\n").split("\n\n")]


def frames_of(lines):
    places = (re.match(r"(.*):(\d+):(\d+)$", place).groups() for place in lines[1::2])
    return [Frame(name, place[0], int(place[1]), int(place[2])) for name, place in zip(lines[::2], places)]


def of_profd(file, addresses, *options):
    """(frames, (start, size, name) of the piece or None) of each address."""
    answers = []
    for lines in blocks(run(LINES_OF, file, *options, text=asked(addresses))):
        piece = None
        if lines[-1].startswith("piece "):
            _, start, size, name = lines.pop().split(" ", 3)
            piece = (int(start, 16), int(size), name)
        answers.append((frames_of(lines[1:]), piece))
    assert len(answers) == len(addresses), (len(answers), len(addresses))
    return answers


def of_llvm(file, addresses):
    answers = [frames_of(lines) for lines in blocks(run(LLVM, f"--obj={file}", "--no-demangle", text=asked(addresses)))]
    assert len(answers) == len(addresses), (len(answers), len(addresses))
    return answers


def of_binutils(tool, file, addresses):
    """[(base name, line)] of each address, by GNU addr2line or eu-addr2line."""
    answers = []
    for line in run(tool, "-a", "-i", "-f", "-e", file, text=asked(addresses)).split("\n"):
        if re.fullmatch(r"0x[0-9a-f]+", line):
            answers.append([])
        elif line:
            answers[-1].append(line)
    places = (re.match(r"(.*?):(\d+|\?)", place.split(" ")[0]) for answer in answers for place in answer[1::2])
    texts = iter([(os.path.basename(place[1]), 0 if place[2] == "?" else int(place[2])) for place in places])
    return [[next(texts) for _ in answer[1::2]] for answer in answers]


def text_section(file):
    for line in run("readelf", "-WS", file).split("\n"):
        parts = line.replace("[ ", "[").split()
        if len(parts) > 5 and parts[1] == ".text":
            return int(parts[3], 16), int(parts[5], 16)
    raise AssertionError(f"{file} has no .text")


def addresses_of(file):
    begin, size = text_section(file)
    if size <= 2 * MOST:
        return list(range(begin, begin + size))
    return sorted(random.Random(27).sample(range(begin, begin + size), MOST))


class Symbols:
    """The symbol table of a program, by readelf."""

    def __init__(self, file):
        self.names = collections.defaultdict(set)  # by address
        self.sizes = {}
        for line in run("readelf", "-Ws", file).split("\n"):
            parts = line.split()
            if len(parts) == 8 and parts[3] in ("FUNC", "NOTYPE", "IFUNC") and parts[6].isdigit() and not re.match(r"\$[xadt]", parts[7]):
                address = int(parts[1], 16)
                self.names[address].add(parts[7].split("@")[0])
                self.sizes[address] = max(self.sizes.get(address, 0), int(parts[2], 0))
        self.starts = sorted(self.names)
        self.folded = {folded(name) for names in self.names.values() for name in names}

    def start(self, address):
        """Where the last symbol at or before an address begins."""
        at = bisect.bisect_right(self.starts, address)
        return self.starts[at - 1] if at else None


CLONE = re.compile(r"(\.(constprop|isra|part|cold|lto_priv|llvm|localalias)(\.\d+)?)+$")


def folded(name):
    """As profd has clones: without their suffix, one constructor and one destructor."""
    return re.sub(r"([CD])[24](?=[EI])", r"\g<1>1", CLONE.sub("", name))


def allowed_name(address, ours, theirs, outermost, symbols):
    """Why two names of a frame may differ, or None."""
    if ours.endswith("::" + theirs):
        return "a name without linkage name is qualified by its parents"
    if len(ours.encode()) == 4096 and theirs.startswith(ours):
        return "longer than names may be"
    word = theirs.split("<")[0]
    if ours in symbols.folded and (f"{len(word)}{word}" in ours or word.startswith("operator")):
        return "a name without linkage name is that of the symbol of its own code"
    start = symbols.start(address)
    if outermost and start is not None and {ours, theirs} <= {folded(name) for name in symbols.names[start]}:
        return "another name of the same code"
    if outermost and theirs in (ours + ".abi0", ours.replace("\u00b7", ".")):
        return "Go's name of an ABI, or with another dot"
    end = start + symbols.sizes[start] if start is not None else 0
    if ours == "??" and outermost and address >= end:
        return "behind the end of a symbol, where they take the nearest"
    return None


def compare(name, file, truth, options, failures, reasons):
    addresses = addresses_of(file)
    symbols = Symbols(truth)
    wrong = collections.Counter()
    examples = []

    def differs(what, *values):
        wrong[what] += 1
        if wrong[what] == 1:
            examples.append(f"  {what} {values}")

    for address, (ours, piece), theirs in zip(addresses, of_profd(file, addresses, *options), of_llvm(truth, addresses)):
        ours = ours or [Frame("??", "??", 0, 0)]
        if len(ours) != len(theirs):
            differs("depth", hex(address), ours, theirs)
            continue
        for depth, (a, b) in enumerate(zip(ours, theirs)):
            outermost = depth == len(ours) - 1
            if a.line != b.line:
                differs("line", hex(address), a, b)
            elif a.line and os.path.normpath(a.file) != os.path.normpath(b.file):
                differs("file", hex(address), a, b)
            elif a.line and a.column != b.column:
                differs("column", hex(address), a, b)
            if a.name in (b.name, folded(b.name)):
                continue
            why = allowed_name(address, a.name, folded(b.name), outermost, symbols)
            if why:
                reasons[why] += 1
            else:
                differs("name", hex(address), a, b)
        if piece and not piece[0] <= address < piece[0] + piece[1]:
            differs("piece", hex(address), piece)
    print(f"{name}: {len(addresses)} addresses, {sum(wrong.values())} wrong {dict(wrong) or ''}")
    if wrong:
        failures.append("\n".join([f"{name}: {dict(wrong)}", *examples]))


def compare_binutils(name, file, tool, failures):
    """A second opinion where these tools have no fault that is known: files and lines of plain gcc programs."""
    addresses = addresses_of(file)
    same = 0
    for (ours, _), theirs in zip(of_profd(file, addresses), of_binutils(tool, file, addresses)):
        places = [(os.path.basename(frame.file), frame.line) for frame in ours]
        if not any(line for _, line in places):
            same += not any(line for _, line in theirs)
        else:
            same += places == theirs
    print(f"{name}, {tool}: {same} of {len(addresses)} alike")
    # eu-addr2line has other siblings at 0.8 %; GNU addr2line other files of DWARF 5 at 3.8 %.
    if same < (0.96 if tool == "addr2line" else 0.985) * len(addresses):
        failures.append(f"{name}: {tool} agrees at {same} of {len(addresses)} addresses")


def return_addresses(failures, reasons):
    """20,000 real call sites, looked up inside the call: a return address less one. The program is this test's own tool."""
    calls = []
    for line in run("objdump", "-d", "--no-show-raw-insn", "-j", ".text", LINES_OF).split("\n"):
        found = re.match(r"\s*([0-9a-f]+):\s+(\S+)", line)
        if found and calls and calls[-1] is None:
            calls[-1] = int(found[1], 16)
        if found and found[2].startswith("call"):
            calls.append(None)
    calls = [address - 1 for address in calls if address]
    if len(calls) > MOST:
        calls = sorted(random.Random(27).sample(calls, MOST))
    symbols = Symbols(LINES_OF)
    wrong = []
    for address, (ours, _), theirs in zip(calls, of_profd(LINES_OF, calls), of_llvm(LINES_OF, calls)):
        ours = ours or [Frame("??", "??", 0, 0)]
        places = [[(os.path.normpath(frame.file), frame.line) for frame in chain if frame.line] for chain in (ours, theirs)]
        names = [a.name in (b.name, folded(b.name)) or allowed_name(address, a.name, folded(b.name), a is ours[-1], symbols)
                 for a, b in zip(ours, theirs)]
        if len(ours) != len(theirs) or places[0] != places[1] or not all(names):
            wrong.append((hex(address), ours, theirs))
    print(f"return addresses: {len(calls)}, {len(wrong)} wrong")
    if wrong:
        failures.append(f"return addresses: {len(wrong)} wrong, as {wrong[0]}")


def threads_agree(file, failures):
    addresses = asked(addresses_of(file))
    if len({run(LINES_OF, file, "--threads", str(threads), text=addresses) for threads in (1, 2, 5)}) != 1:
        failures.append("the answer depends on the number of threads")


LIBRARY = """
#define USE __attribute__((noinline, used))
%s
__asm__(".text\\n.globl unsized\\n.type unsized, @function\\nunsized: nop\\nnop\\nret\\n.skip 64, 0x90\\n");
"""


def stripped_library(folder, failures):
    """50,000 points of a library of which only some functions are named once it is stripped: right names or none."""
    random.seed(27)
    functions = []
    for i in range(2500):
        kind = random.choice(("static", "__attribute__((visibility(\"hidden\")))", "", "static", "static"))
        body = "".join(f"x = x * {random.randrange(3, 99)} + (x >> {random.randrange(1, 9)});" for _ in range(random.randrange(1, 12)))
        functions.append(f"USE {kind} int f{i}(int x) {{ {body} return x; }}")
    source, whole = os.path.join(folder, "library.c"), os.path.join(folder, "library.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(LIBRARY % "\n".join(functions))
    run("gcc", "-shared", "-fPIC", "-O1", source, "-o", whole)
    stripped, mini = whole + ".stripped", whole + ".mini"
    run("objcopy", "--strip-all", whole, stripped)
    symbols = Symbols(whole)
    begin, size = text_section(whole)
    points = sorted(random.choices(range(begin, begin + size), k=50000))

    def names_of(file):
        """(right, wrong, without a name), and wrong bounds."""
        right = wrong = none = bounds = 0
        for address, (frames, piece) in zip(points, of_profd(file, points)):
            start = symbols.start(address)
            # A symbol that states no size goes on up to the next one; that is for whole tables.
            inside = start is not None and (symbols.sizes[start] == 0 or address < start + symbols.sizes[start])
            if frames:
                good = inside and frames[0].name in symbols.names[start]
                right, wrong = right + good, wrong + (not good)
            else:
                none += 1
            if piece and inside and symbols.sizes[start] and piece[0] != start:
                bounds += 1
        return right, wrong, none, bounds

    right, wrong, none, bounds = names_of(stripped)
    print(f"stripped library: {right} right, {wrong} wrong, {none} without a name, {bounds} wrong bounds")
    if wrong or bounds or not right or not none:
        failures.append(f"stripped library: {right} right, {wrong} wrong, {none} without a name, {bounds} wrong bounds")

    # .gnu_debugdata as distributions make it: the symbols that .dynsym does not have, in xz.
    if shutil.which("xz"):
        dynamic = {line.split()[-1] for line in run("nm", "-D", "--defined-only", whole).split("\n") if line}
        kept = [line.split()[-1] for line in run("nm", whole).split("\n") if len(line.split()) == 3 and line.split()[1] in "tT"]
        keep = os.path.join(folder, "keep")
        with open(keep, "w", encoding="utf-8") as file:
            file.write("\n".join(name for name in kept if name not in dynamic) + "\n")
        small = os.path.join(folder, "mini")
        run("objcopy", "--only-keep-debug", whole, small + ".debug")
        run("objcopy", "-S", "--remove-section", ".gdb_index", "--remove-section", ".comment", f"--keep-symbols={keep}", small + ".debug", small)
        run("xz", "-f", small)
        run("objcopy", "--add-section", f".gnu_debugdata={small}.xz", stripped, mini)
        right, wrong, none, bounds = names_of(mini)
        print(f".gnu_debugdata: {right} right, {wrong} wrong, {none} without a name")
        if wrong or bounds or right < 0.95 * len(points):
            failures.append(f".gnu_debugdata: {right} right, {wrong} wrong, {none} without a name, {bounds} wrong bounds")
    else:
        print("PARTLY NOT RUN: .gnu_debugdata: no xz")


def linkage_stubs(file, objdump, failures):
    """Names of the stubs of the linkage table, against objdump's."""
    stubs = {}
    for line in run(objdump, "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", file, check=False).split("\n"):
        found = re.match(r"([0-9a-f]+) <(.*)@plt>:", line)
        if found:
            stubs[int(found[1], 16)] = found[2].split("@")[0] + "@plt"
    stubs = {address: name for address, name in stubs.items() if not name.startswith("*")}
    addresses = sorted(stubs)
    wrong = [(hex(address), frames, stubs[address]) for address, (frames, _) in zip(addresses, of_profd(file, addresses))
             if not frames or frames[0].name != stubs[address]]
    print(f"linkage stubs of {os.path.basename(os.path.dirname(file))}: {len(stubs)}, {len(wrong)} wrong")
    if wrong or not stubs:
        failures.append(f"linkage stubs of {file}: {len(wrong)} of {len(stubs)} wrong: {wrong[:1]}")


def other_build(folder, failures):
    """Files of another build are refused, with both ids."""
    done = subprocess.run([LINES_OF, f"{folder}/gcc-5/linked", "--debug", f"{folder}/gcc-4/program.debug"], input="", capture_output=True,
                          text=True, timeout=60)
    ids = [re.search(r"Build ID: (\w+)", run("readelf", "-n", f"{folder}/{file}"))[1] for file in ("gcc-5/linked", "gcc-4/program.debug")]
    if done.returncode == 0 or not all(id in done.stderr for id in ids):
        failures.append(f"a debug file of another build: {done.returncode} {done.stderr}")


def wishes(folder, failures):
    """Without its .dwo files a program has lines and the functions of its symbols, and says which files it wants."""
    addresses = addresses_of(f"{folder}/gcc-5-split/program")
    done = subprocess.run([LINES_OF, f"{folder}/gcc-5-split/program"], input=asked(addresses), capture_output=True, text=True, timeout=60)
    wanted = sorted(os.path.basename(line) for line in done.stderr.split("\n") if line.startswith("wish: "))
    if wanted != ["main.dwo", "rings.dwo", "tree.dwo"]:
        failures.append(f"wishes for .dwo files: {wanted}")
    alone = of_profd(f"{folder}/gcc-5-split/program", addresses)
    whole = of_profd(f"{folder}/gcc-5/program", addresses)
    if any(len(a) > 1 or a and (a[0].line, a[0].file) != (b[0].line, b[0].file.replace("gcc-5/", "gcc-5-split/")) or a and a[0].name != b[-1].name
           for (a, _), (b, _) in zip(alone, whole)):
        failures.append("a program without its .dwo files has other lines or functions")


def main():
    if LLVM is None or not (shutil.which("g++") or shutil.which("clang++-14")):
        print("NOT RUN: no llvm-symbolizer, or no C++ compiler")
        return 77
    failures, reasons = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run(["bash", f"{ROOT}/tests/fixtures/record/native-lines.sh", folder], capture_output=True, text=True, timeout=900)
        if built.returncode != 0:
            raise AssertionError(built.stderr)
        for line in built.stderr.split("\n"):
            if line.startswith("left out: "):
                print("PARTLY NOT RUN: programs for symbolizers:", line[10:])
        with open(f"{folder}/list.tsv", encoding="utf-8") as file:
            programs = [line.rstrip("\n").split("\t") for line in file]
        os.chdir(folder)
        for name, file, truth, options in programs:
            compare(name, file, truth, options.split(), failures, reasons)
        paths = {name: os.path.join(folder, file) for name, file, _, _ in programs}
        for name in ("gcc-4", "gcc-5", "gcc-5-no-pie"):
            for tool in ("addr2line", "eu-addr2line"):
                if name in paths and shutil.which(tool):
                    compare_binutils(name, paths[name], tool, failures)
        return_addresses(failures, reasons)
        threads_agree(LINES_OF, failures)
        stripped_library(folder, failures)
        for name in ("gcc-5", "gcc-5-mold", "gcc-5-no-pie", "aarch64"):
            objdump = "aarch64-linux-gnu-objdump" if name == "aarch64" else "objdump"
            if name in paths and shutil.which(objdump):
                linkage_stubs(paths[name], objdump, failures)
        if "gcc-5" in paths:
            other_build(folder, failures)
        if "gcc-5-split" in paths:
            wishes(folder, failures)
    for why, count in reasons.most_common():
        print(f"allowed: {count} names: {why}")
    print("\n".join(failures) if failures else "every chain is as the others have it")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
