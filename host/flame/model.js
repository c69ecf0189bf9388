/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a flame graph shows, without a page: sums, places, searches, words. Part of the page that
 * `tally flamegraph` writes, and of host/test_flame.js. ECMAScript 5.
 *
 * The data (host/export_flamegraph.c): events [{name, weight, samples}]; texts, a list;
 * kind, name and object (texts) of each frame; parent and frame of each node, where node 0 is "all" and
 * callers have smaller numbers; self, for each event a list node, weight, node, weight, ...
 */
"use strict";

var KIND = {thread: 0, user: 1, kernel: 2, inlined: 3};

/* The tree of one event: own and whole weight of each node, and its callees in order. */
function flameTree(data, event) {
	var count = data.parent.length, node, i, list = data.self[event];
	var tree = {self: [], total: [], callees: [], depth: [], place: [], deepest: 0};

	for (node = 0; node < count; node++) {
		tree.self.push(0);
		tree.callees.push(null);
		tree.depth.push(node ? tree.depth[data.parent[node]] + 1 : 0);
		tree.place.push(0);
	}
	for (i = 0; i < list.length; i += 2)
		tree.self[list[i]] += list[i + 1];
	tree.total = tree.self.slice();
	for (node = count - 1; node > 0; node--)
		tree.total[data.parent[node]] += tree.total[node];
	for (node = 1; node < count; node++) {
		if (tree.total[node] === 0)
			continue;
		if (!tree.callees[data.parent[node]])
			tree.callees[data.parent[node]] = [];
		tree.callees[data.parent[node]].push(node);
		tree.deepest = Math.max(tree.deepest, tree.depth[node]);
	}
	flamePlaces(data, tree);
	return tree;
}

/* Callees stand in the order of their names, so that two graphs of one program look alike. */
function flamePlaces(data, tree) {
	var stack = [0], node, list, at, i;
	var name = function (n) { return data.texts[data.name[data.frame[n]]]; };
	var order = function (a, b) {
		var x = name(a), y = name(b);

		return x < y ? -1 : x > y ? 1 : a - b;
	};

	while (stack.length) {
		node = stack.pop();
		list = tree.callees[node];
		if (!list)
			continue;
		list.sort(order);
		at = tree.place[node];
		for (i = 0; i < list.length; i++) {
			tree.place[list[i]] = at;
			at += tree.total[list[i]];
			stack.push(list[i]);
		}
	}
}

/*
 * The boxes to draw when `focus` takes the whole width: [{node, from, to, depth}], where from and to
 * are parts of the width. What would be narrower than `least` is left out, with all above it. Boxes
 * have the depth of their nodes.
 */
function flameBoxes(data, tree, focus, least) {
	var boxes = [], stack = [], node, i, list, width = tree.total[focus], at = tree.place[focus];

	for (node = focus; node; node = data.parent[node])
		stack.push(data.parent[node]);
	for (i = stack.length - 1; i >= 0; i--)
		boxes.push({node: stack[i], from: 0, to: 1, depth: tree.depth[stack[i]]});
	if (width === 0)
		return boxes;
	stack = [focus];
	while (stack.length) {
		node = stack.pop();
		if (tree.total[node] / width < least)
			continue;
		boxes.push({node: node, from: (tree.place[node] - at) / width,
			    to: (tree.place[node] - at + tree.total[node]) / width,
			    depth: tree.depth[node]});
		list = tree.callees[node];
		for (i = list ? list.length - 1 : -1; i >= 0; i--)
			stack.push(list[i]);
	}
	return boxes;
}

/* The box at a depth and a part of the width, or null. */
function flameHit(boxes, depth, at) {
	var i;

	for (i = 0; i < boxes.length; i++) {
		if (boxes[i].depth === depth && boxes[i].from <= at && at < boxes[i].to)
			return boxes[i];
	}
	return null;
}

/*
 * Which frames have `text` in their names, in any case, and how much was executed in them or
 * what they called: {frames: [bool], weight}. Nothing is counted twice.
 */
function flameSearch(data, tree, text) {
	var found = {frames: [], weight: 0}, wanted = text.toLowerCase(), frame, node, inside = [];

	for (frame = 0; frame < data.name.length; frame++)
		found.frames.push(wanted !== "" && data.kind[frame] !== KIND.thread &&
				  data.texts[data.name[frame]].toLowerCase().indexOf(wanted) >= 0);
	for (node = 0; node < data.parent.length; node++) {
		inside.push(node > 0 && inside[data.parent[node]]);
		if (!inside[node] && found.frames[data.frame[node]]) {
			inside[node] = true;
			found.weight += tree.total[node];
		}
	}
	return found;
}

/* The node that a key leads to from another one; the same where there is none. */
function flameStep(data, tree, node, key) {
	var list, i, best = node;

	if (key === "caller")
		return node ? data.parent[node] : node;
	if (key === "callee") {
		list = tree.callees[node] || [];
		for (i = 0; i < list.length; i++) {
			if (best === node || tree.total[list[i]] > tree.total[best])
				best = list[i];
		}
		return best;
	}
	list = node ? tree.callees[data.parent[node]] : [node];
	i = list.indexOf(node) + (key === "right" ? 1 : -1);
	return i >= 0 && i < list.length ? list[i] : node;
}

/* A whole number with its thousands apart. */
function flameNumber(value) {
	return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
}

function flamePercent(part, whole) {
	var percent = whole ? 100 * part / whole : 0;

	return (percent >= 10 || percent === 0 ? percent.toFixed(1) : percent.toPrecision(2)) + "%";
}

/* What there is to say of a node: {name, where, text}. */
function flameWords(data, tree, node, event) {
	var frame = data.frame[node], kind = data.kind[frame], object = data.texts[data.object[frame]];
	var all = tree.total[0], what = data.events[event].name, where = object;

	if (kind === KIND.inlined)
		where = "inlined";
	else if (kind === KIND.kernel)
		where = "kernel, " + object;
	else if (kind === KIND.thread)
		where = node ? "program" : "";
	return {
		name: data.texts[data.name[frame]],
		where: where,
		text: flameNumber(tree.total[node]) + " " + what + ", " +
			flamePercent(tree.total[node], all) +
			(tree.self[node] && tree.self[node] !== tree.total[node] ?
				"; itself " + flameNumber(tree.self[node]) + ", " +
				flamePercent(tree.self[node], all) : "")
	};
}

/* As much of a name as `letters` have room for; the end says that there is more. */
function flameLabel(name, letters) {
	if (letters < 3)
		return "";
	return name.length <= letters ? name : name.slice(0, letters - 1) + "\u2026";
}

/* One name has one colour, of its kind's part of the circle. */
function flameColour(kind, name) {
	var hash = 7, i, part;

	for (i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) % 65521;
	part = hash % 100 / 100;
	if (kind === KIND.kernel)
		return "hsl(" + (200 + 26 * part).toFixed(0) + ", 72%, " + (72 + 10 * part).toFixed(0) + "%)";
	if (kind === KIND.thread)
		return "hsl(0, 0%, 82%)";
	if (kind === KIND.inlined)
		return "hsl(" + (46 + 12 * part).toFixed(0) + ", 70%, 82%)";
	return "hsl(" + (14 + 26 * part).toFixed(0) + ", 88%, " + (62 + 10 * part).toFixed(0) + "%)";
}
