/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel image: linked in the direct map at the place QEMU loads an Image
 * with text_offset 0 to (2 MiB above the start of RAM). Text, read-only data
 * and data each begin on a page, for mmu.c to protect them. The symbol table is the last thing
 * loaded, so that filling it in does not move what it describes.
 */
ENTRY(_start)
OUTPUT_FORMAT("elf64-littleaarch64")

SECTIONS
{
	. = 0xffff000040200000;
	_image_start = .;
	.text : {
		_text = .;
		KEEP(*(.head.text))
		*(.text.vectors)
		*(.text .text.*)
		. = ALIGN(4096);
		_etext = .;
	}
	.rodata : {
		_rodata = .;
		*(.rodata .rodata.*)
		*(.got .got.plt)
	}
	.notes : {
		__start_notes = .;
		KEEP(*(.note.gnu.build-id))
		__stop_notes = .;
	}
	.erodata : {
		. = ALIGN(4096);
		_erodata = .;
	}
	.data : {
		_data = .;
		*(.data .data.*)
	}
	.ksyms : ALIGN(16) {
		KEEP(*(.ksyms))
		. = ALIGN(4096);
		_load_end = .;
	}
	.bss : ALIGN(4096) {
		_bss = .;
		*(.bss .bss.*)
		*(COMMON)
		. = ALIGN(4096);
		_end = .;
	}
	_image_size = _end - _image_start;
	/DISCARD/ : {
		*(.eh_frame .eh_frame_hdr .interp .dynamic .comment)
		*(.note.GNU-stack .note.gnu.property)
	}
}
