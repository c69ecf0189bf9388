#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's table of its own functions, as assembly (see arch/aarch64/symbols.c).

usage: ksyms.py NM ELF OUT
"""
import subprocess
import sys


def functions(nm, elf):
    """(address, letter, name) of all text symbols, in address order, and the address of _text."""
    out = subprocess.run([nm, '-n', elf], check=True, capture_output=True, text=True).stdout
    found, base = [], None
    for line in out.splitlines():
        fields = line.split()
        if len(fields) != 3:
            continue
        address, letter, name = int(fields[0], 16), fields[1], fields[2]
        if name == '_text':
            base = address
        if letter in 'tTwW' and not name.startswith(('$', '.L')):
            found.append((address, letter, name))
    return found, base


def main():
    nm, elf, out = sys.argv[1:]
    found, base = functions(nm, elf)
    end = max(a for a, _, name in found if name == '_etext')
    # Both ends stay in it, because perf looks for them; _text goes first, for lookups to find _start.
    found = [(a, l, n) for a, l, n in found if base <= a <= end and n != '_image_start']
    found.sort(key=lambda f: (f[0], f[2] != '_text'))
    names, strings = [], []
    at = 0
    for _, letter, name in found:
        names.append(at)
        strings.append(letter + name)
        at += len(letter + name) + 1
    with open(out, 'w', encoding='ascii') as f:
        f.write('\t.section .ksyms, "a"\n')
        f.write('\t.globl ksyms_count, ksyms_offset, ksyms_name, ksyms_strings\n\t.balign 8\n')
        f.write(f'ksyms_count:\t.long {len(found)}\n')
        f.write('ksyms_offset:\n' + ''.join(f'\t.long {a - base:#x}\n' for a, _, _ in found))
        f.write('ksyms_name:\n' + ''.join(f'\t.long {n}\n' for n in names))
        f.write('ksyms_strings:\n' + ''.join(f'\t.asciz "{s}"\n' for s in strings))


if __name__ == '__main__':
    main()
