/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of a flame graph: draws what model.js finds, and listens. Names reach the page as text
 * only, never as HTML.
 */
"use strict";

(function () {
	var ROW = 18, LEAST = 0.4, FONT = "12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
	var $ = function (id) { return document.getElementById(id); };
	var data = JSON.parse($("data").textContent);
	var canvas = $("graph"), scroll = $("scroll"), pen = canvas.getContext("2d");
	var event = 0, tree, focus = 0, current = 0, boxes = [], found, flipped = false, letter = 7, pending = false;

	function rows() {
		return tree.deepest + 1;
	}

	/* The upper edge of a depth's row in the whole graph. */
	function top(depth) {
		return flipped ? depth * ROW : (rows() - 1 - depth) * ROW;
	}

	function drawBox(box, width, shift) {
		var frame = data.frame[box.node], kind = data.kind[frame], name = data.texts[data.name[frame]];
		var x = box.from * width, w = Math.max((box.to - box.from) * width, 1), y = top(box.depth) - shift;
		var label;

		if (y > scroll.clientHeight || y < -ROW)
			return;
		pen.globalAlpha = tree.depth[box.node] < tree.depth[focus] ? 0.55 : 1;
		pen.fillStyle = found && found.frames[frame] ? "hsl(300, 75%, 78%)" : flameColour(kind, name);
		pen.fillRect(x, y, w > 3 ? w - 1 : w, ROW - 1);
		label = flameLabel(name, Math.floor((w - 7) / letter));
		if (label) {
			pen.fillStyle = "#1c1c1c";
			pen.fillText(label, x + 3, y + 13);
		}
		pen.globalAlpha = 1;
		if (box.node === current && (current || document.activeElement === canvas)) {
			pen.strokeStyle = "#1c1c1c";
			pen.lineWidth = 2;
			pen.strokeRect(x + 1, y + 1, Math.max(w - 3, 2), ROW - 3);
		}
	}

	function draw() {
		var width = scroll.clientWidth, height = scroll.clientHeight, ratio = window.devicePixelRatio || 1, i;

		pending = false;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.font = FONT;
		letter = pen.measureText("mmmmmmmmmm").width / 10;
		boxes = flameBoxes(data, tree, focus, LEAST / Math.max(width, 1));
		for (i = 0; i < boxes.length; i++)
			drawBox(boxes[i], width, scroll.scrollTop);
	}

	function redraw() {
		if (!pending)
			window.requestAnimationFrame(draw);
		pending = true;
	}

	/* The graph has the room that the window leaves, and scrolls if it needs more. */
	function resize() {
		var space = Math.max(window.innerHeight - scroll.getBoundingClientRect().top - window.scrollY - 130, 10 * ROW);
		var below = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight;

		$("room").style.height = rows() * ROW + "px";
		scroll.style.height = Math.min(rows() * ROW, space) + 2 + "px";
		if (!flipped)
			scroll.scrollTop = scroll.scrollHeight - scroll.clientHeight - below;
		redraw();
	}

	function say(node) {
		var words = flameWords(data, tree, node, event);

		$("said").textContent = words.name + (words.where ? " (" + words.where + ")" : "") + ": " + words.text;
	}

	function showRow(depth) {
		var y = top(depth);

		if (y < scroll.scrollTop)
			scroll.scrollTop = y;
		else if (y + ROW > scroll.scrollTop + scroll.clientHeight)
			scroll.scrollTop = y + ROW - scroll.clientHeight;
	}

	function select(node) {
		current = node;
		say(node);
		showRow(tree.depth[node]);
		redraw();
	}

	function zoom(node) {
		focus = node;
		select(node);
	}

	function search() {
		var text = $("search").value;

		found = text ? flameSearch(data, tree, text) : null;
		$("found").textContent = !found ? "" : found.weight ?
			flamePercent(found.weight, tree.total[0]) + " in what was found" : "nothing found";
		redraw();
	}

	function setEvent(number) {
		event = number;
		tree = flameTree(data, event);
		focus = current = 0;
		$("total").textContent = flameNumber(data.events[event].weight) + " " + data.events[event].name +
			" in " + flameNumber(data.events[event].samples) +
			(data.events[event].samples === 1 ? " sample" : " samples");
		search();
		resize();
		scroll.scrollTop = flipped ? 0 : rows() * ROW;
		say(0);
	}

	function flip() {
		flipped = !flipped;
		$("flip").setAttribute("aria-pressed", String(flipped));
		resize();
		showRow(tree.depth[current]);
	}

	function boxAt(mouse) {
		var edge = canvas.getBoundingClientRect();
		var row = Math.floor((mouse.clientY - edge.top + scroll.scrollTop) / ROW);

		return flameHit(boxes, flipped ? row : rows() - 1 - row, (mouse.clientX - edge.left) / edge.width);
	}

	function hover(mouse) {
		var box = boxAt(mouse), tip = $("tip"), words, bold;

		tip.hidden = !box;
		if (!box)
			return;
		words = flameWords(data, tree, box.node, event);
		bold = document.createElement("b");
		bold.textContent = words.name;
		tip.textContent = "";
		tip.appendChild(bold);
		tip.appendChild(document.createTextNode("\n" + (words.where ? words.where + "\n" : "") + words.text));
		tip.style.left = Math.max(0, Math.min(mouse.clientX + 14, window.innerWidth - tip.offsetWidth - 8)) + "px";
		tip.style.top = (mouse.clientY + 18 + tip.offsetHeight > window.innerHeight ?
			mouse.clientY - 10 - tip.offsetHeight : mouse.clientY + 18) + "px";
	}

	function key(press) {
		var steps = {ArrowLeft: "left", ArrowRight: "right",
			     ArrowUp: flipped ? "caller" : "callee", ArrowDown: flipped ? "callee" : "caller"};

		if (press.ctrlKey || press.metaKey || press.altKey)
			return;
		if (steps[press.key])
			select(flameStep(data, tree, current, steps[press.key]));
		else if (press.key === "Enter" || press.key === " ")
			zoom(current);
		else
			return;
		press.preventDefault();
	}

	function pageKey(press) {
		var typing = press.target === $("search");

		if (press.ctrlKey || press.metaKey || press.altKey)
			return;
		if (press.key === "Escape" && typing && $("search").value) {
			$("search").value = "";
			search();
		} else if (press.key === "Escape") {
			zoom(0);
			canvas.focus({preventScroll: true});
		} else if (press.key === "/" && !typing) {
			$("search").focus();
			$("search").select();
		} else if (press.key === "i" && !typing && press.target !== $("event")) {
			flip();
		} else {
			return;
		}
		press.preventDefault();
	}

	data.events.forEach(function (e, number) {
		var option = document.createElement("option");

		option.value = String(number);
		option.textContent = e.name;
		$("event").appendChild(option);
	});
	$("event-choice").hidden = data.events.length < 2;
	$("tools").hidden = false;
	$("event").addEventListener("change", function () { setEvent(Number($("event").value)); });
	$("search").addEventListener("input", search);
	$("reset").addEventListener("click", function () { zoom(0); });
	$("flip").addEventListener("click", flip);
	canvas.addEventListener("click", function (mouse) {
		var box = boxAt(mouse);

		canvas.focus({preventScroll: true});
		if (box)
			zoom(box.node);
	});
	canvas.addEventListener("mousemove", hover);
	canvas.addEventListener("mouseleave", function () { $("tip").hidden = true; });
	canvas.addEventListener("keydown", key);
	canvas.addEventListener("focus", redraw);
	canvas.addEventListener("blur", redraw);
	document.addEventListener("keydown", pageKey);
	scroll.addEventListener("scroll", redraw);
	window.addEventListener("resize", resize);
	/* A scroll bar of the window's that comes or goes changes the width, too. */
	if (window.ResizeObserver)
		new ResizeObserver(redraw).observe(scroll);
	setEvent(0);
}());
