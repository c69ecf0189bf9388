/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What flame/model.js finds, on trees whose answers can be worked out by hand, and on one of ten
 * thousand stacks. Prints TAP; run as one program with model.js before it.
 */
"use strict";

var say = typeof print === "function" ? print : console.log, tests = 0;

/*
 * all ── a ── b   5 itself, of which c 2       event 0
 *    │      └─ c  1
 *    └─ k (kernel) 2
 */
function sample() {
	return {
		events: [{name: "instructions", weight: 12, samples: 4}, {name: "cycles", weight: 3, samples: 1}],
		texts: ["a", "b", "C", "k", "", "file", "all"],
		kind: [0, 1, 1, 2, 0],
		name: [0, 1, 2, 3, 6],
		object: [4, 5, 5, 5, 6],
		parent: [-1, 0, 1, 1, 0, 2],
		frame: [4, 0, 1, 2, 3, 2],
		self: [[2, 5, 3, 1, 4, 2, 5, 4], [3, 3]]
	};
}

function check(name, got, want) {
	var same = JSON.stringify(got) === JSON.stringify(want);

	tests++;
	say((same ? "ok " : "not ok ") + tests + " - " + name + (same ? "" : ": " + JSON.stringify(got)));
}

function nodes(boxes) {
	return boxes.map(function (box) { return box.node; });
}

var data = sample(), tree = flameTree(data, 0), second = flameTree(data, 1), boxes;

check("sums", tree.total, [12, 10, 9, 1, 2, 4]);
check("depths", tree.depth, [0, 1, 2, 2, 1, 3]);
check("callees are sorted by name", tree.callees[1], [3, 2]);
check("places", [tree.place[1], tree.place[3], tree.place[2], tree.place[4]], [0, 0, 1, 10]);
check("other event", [second.total, second.deepest, second.callees[0]], [[3, 3, 0, 3, 0, 0], 2, [1]]);

boxes = flameBoxes(data, tree, 0, 0);
check("all boxes", nodes(boxes), [0, 1, 3, 2, 5, 4]);
check("box", boxes[3], {node: 2, from: 1 / 12, to: 10 / 12, depth: 2});
check("narrow boxes are left out", nodes(flameBoxes(data, tree, 0, 0.1)), [0, 1, 2, 5, 4]);
check("zoomed: callers have the whole width", flameBoxes(data, tree, 2, 0).slice(0, 3).map(function (b) {
	return [b.node, b.from, b.to];
}), [[0, 0, 1], [1, 0, 1], [2, 0, 1]]);
check("zoomed: callees", nodes(flameBoxes(data, tree, 2, 0)), [0, 1, 2, 5]);
check("nothing of an event", nodes(flameBoxes(data, second, 4, 0)), [0]);

check("hit", flameHit(boxes, 2, 0.5).node, 2);
check("hit at an edge", flameHit(boxes, 1, 10 / 12).node, 4);
check("miss", [flameHit(boxes, 2, 0.9), flameHit(boxes, 9, 0.5)], [null, null]);

check("search in any case", flameSearch(data, tree, "c").frames, [false, false, true, false, false]);
check("search counts nothing twice", flameSearch(data, tree, "b").weight, 9);
check("search: callee and caller", flameSearch(data, tree, "c").weight, 5);
check("search for nothing", flameSearch(data, tree, "").weight, 0);
check("programs are not found", flameSearch(data, tree, "a").weight, 0);

check("to the callee that has most", flameStep(data, tree, 1, "callee"), 2);
check("to the caller", flameStep(data, tree, 5, "caller"), 2);
check("to the sides", [flameStep(data, tree, 3, "right"), flameStep(data, tree, 2, "left"),
		       flameStep(data, tree, 2, "right"), flameStep(data, tree, 1, "right")], [2, 3, 2, 4]);
check("no way on", [flameStep(data, tree, 0, "caller"), flameStep(data, tree, 5, "callee"),
		    flameStep(data, tree, 0, "left")], [0, 5, 0]);

check("numbers", [flameNumber(0), flameNumber(999), flameNumber(1234567), flameNumber(9007199254740991)],
      ["0", "999", "1,234,567", "9,007,199,254,740,991"]);
check("percents", [flamePercent(1, 3), flamePercent(1, 12345), flamePercent(0, 0)], ["33.3%", "0.0081%", "0.0%"]);
check("words", flameWords(data, tree, 2, 0), {name: "b", where: "file",
	text: "9 instructions, 75.0%; itself 5, 41.7%"});
check("words of the kernel", flameWords(data, tree, 4, 0).where, "kernel, file");
check("labels", [flameLabel("abcdef", 6), flameLabel("abcdef", 5), flameLabel("abcdef", 2)],
      ["abcdef", "abcd\u2026", ""]);
check("colours", [flameColour(2, "x") === flameColour(2, "x"), flameColour(1, "x") === flameColour(2, "x")],
      [true, false]);

/* Twelve thousand stacks with a hundred functions each. */
(function () {
	var big = {events: [{name: "e", weight: 12000, samples: 12000}], texts: ["all"], kind: [0], name: [0],
		   object: [0], parent: [-1], frame: [0], self: [[]]}, i, depth, node, t;

	for (i = 0; i < 1000; i++) {
		big.texts.push("function number " + i);
		big.kind.push(1);
		big.name.push(i + 1);
		big.object.push(0);
	}
	for (i = 0; i < 12000; i++) {
		node = 0;
		for (depth = 0; depth < 10; depth++) {
			big.parent.push(node);
			big.frame.push(1 + (i * 7 + depth * 13) % 1000);
			node = big.parent.length - 1;
		}
		big.self[0].push(node, 1);
	}
	t = flameTree(big, 0);
	check("ten thousand stacks: sum", t.total[0], 12000);
	check("ten thousand stacks: boxes", flameBoxes(big, t, 0, 0).length, 120001);
	check("ten thousand stacks: only what can be seen", flameBoxes(big, t, 0, 0.4 / 1200).length, 1);
}());

say("1.." + tests);
