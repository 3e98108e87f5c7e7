"""What is on a page, as values that can be compared: structure, boxes, contrast, pictures."""
import struct
import zlib

import numpy

# The structure of a shown value: a table is a list of its cells, a text is a list of its lines, the rest a word.
READ = """e => {
  const cell = td => {
    const inner = td.querySelector(':scope > table, :scope > code, :scope > small');
    return inner ? read(inner) : td.textContent.trim();
  };
  const read = e => {
    if (e.tagName === 'TABLE') return [...e.rows].flatMap(r => [...r.cells].map(cell));
    if (e.tagName === 'SMALL') return [];
    return e.title ? e.textContent.split('\\n') : e.textContent;
  };
  return read(e);
}"""


def framed(text):
    """The same structure, out of what `]display` draws: a box is a list, a box of characters a list of one."""
    lines = text.rstrip("\n").split("\n")
    width = max(map(len, lines))
    grid = [list(line.ljust(width)) for line in lines]
    inner = boxes(grid)
    return inner[0] if len(inner) == 1 else inner


def boxes(grid):
    """Boxes and words of a grid from left to right, row by row of boxes. Boxes are wiped as they are read."""
    found = []
    for y, row in enumerate(grid):
        for x, c in enumerate(row):
            if c == "┌":
                right = next(k for k in range(x + 1, len(row)) if row[k] == "┐")
                low = next(k for k in range(y + 1, len(grid)) if grid[k][x] == "└")
                inside = [r[x + 1:right] for r in grid[y + 1:low]]
                empty = "⊖" in row[x:right]
                marks = "".join(grid[low][x:right])
                if empty:
                    value = []
                elif "∊" in marks or "┌" in "".join(map("".join, inside)):
                    value = boxes(inside)
                elif "~" in marks:
                    value = [w for r in inside for w in "".join(r).split()]
                else:
                    value = ["".join(r) for r in inside]
                found.append((y, low, x, value))
                for k in range(y, low + 1):
                    grid[k][x:right + 1] = [" "] * (right + 1 - x)
    for y, row in enumerate(grid):
        x = 0
        for word in "".join(row).split(" "):
            # The line under a character that is a scalar.
            if word and set(word) != {"-"}:
                found.append((y, y, x, word))
            x += len(word) + 1
    bands = []
    for top, low, x, value in sorted(found, key=lambda f: f[0]):
        if bands and top <= bands[-1][0]:
            bands[-1] = (max(low, bands[-1][0]), bands[-1][1] + [(x, value)])
        else:
            bands.append((low, [(x, value)]))
    return [value for _, band in bands for _, value in sorted(band, key=lambda f: f[0])]


# Contrast of what is written in an element: the least, with its text. A colour is read off a canvas, which knows
# every notation; the background is the nearest one that is not see-through.
CONTRAST = """all => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const linear = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const behind = e => {
    for (let at = e; at; at = at.parentElement) {
      if (at instanceof SVGElement) {
        const rect = at.querySelector?.(':scope > rect');
        if (rect) return rgba(getComputedStyle(rect).fill);
        continue;
      }
      const c = rgba(getComputedStyle(at).backgroundColor);
      if (c[3] === 255) return c;
    }
    return [255, 255, 255, 255];
  };
  const least = [];
  for (const root of all) {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const text = walk.currentNode.textContent.trim();
      const e = walk.currentNode.parentElement;
      const box = e.getBoundingClientRect();
      if (!text || !box.width || !box.height) continue;
      const style = getComputedStyle(e);
      const ink = rgba(e instanceof SVGElement ? style.fill : style.color);
      const [a, b] = [light(ink), light(behind(e))].sort((p, q) => q - p);
      least.push([(a + 0.05) / (b + 0.05), text.slice(0, 20)]);
    }
  }
  least.sort((p, q) => p[0] - q[0]);
  return [least.length, ...(least[0] ?? [0, 'nothing'])];
}"""

# A picture drawn on a canvas: its size, its colours, the part of it that is not the commonest colour, the part that is
# see-through.
PICTURE = """async e => {
  const image = e.tagName === 'IMG' ? e : Object.assign(new Image(), {
    src: 'data:image/svg+xml;base64,' + btoa(unescape(encodeURIComponent(new XMLSerializer().serializeToString(e)))),
  });
  await image.decode();
  const [w, h] = [image.naturalWidth, image.naturalHeight];
  const canvas = new OffscreenCanvas(w, h).getContext('2d');
  canvas.drawImage(image, 0, 0);
  const data = new Uint32Array(canvas.getImageData(0, 0, w, h).data.buffer);
  const counts = new Map();
  for (const c of data) counts.set(c, (counts.get(c) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const clear = [...data].filter(c => c >>> 24 === 0).length / data.length;
  return { w, h, colours: counts.size, drawn: 1 - most / data.length, clear };
}"""

# Whether all of these characters have one width in a font.
WIDTHS = """([font, text]) => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d');
  canvas.font = `20px ${font}`;
  return [...new Set([...text].map(c => canvas.measureText(c).width))];
}"""


def overlaps(boxes):
    """Whether two of these boxes ({x, y, width, height}) cover the same place."""
    meet = lambda a, b, at, size: a[at] + a[size] > b[at] + 0.5 and b[at] + b[size] > a[at] + 0.5
    pairs = [(a, b) for k, a in enumerate(boxes) for b in boxes[k + 1:]]
    return any(meet(a, b, "x", "width") and meet(a, b, "y", "height") for a, b in pairs)


def palette(png):
    """A PNG of few colours out of one of 8 bits a channel, as browsers write it: a quarter of the bytes."""
    at, chunks = 8, {}
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        chunks[kind] = chunks.get(kind, b"") + png[at + 8:at + 8 + length]
        at += length + 12
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert depth == 8 and colour in (2, 6), "a browser's PNG"
    each = 3 if colour == 2 else 4
    raw = numpy.frombuffer(zlib.decompress(chunks[b"IDAT"]), numpy.uint8).reshape(height, -1)
    rows = numpy.zeros((height, width * each), numpy.uint8)
    above = numpy.zeros(width * each, numpy.int64)
    for y, (kind, *_) in enumerate(raw[:, :1]):
        line = unfiltered(int(kind), raw[y, 1:].astype(numpy.int64), above, each)
        rows[y] = above = line
        above = above.astype(numpy.int64)
    pixels = rows.reshape(height, width, each)[..., :3]
    # The commonest colours stay as they are; each other one takes the nearest of them.
    packed = pixels.astype(numpy.uint32) @ numpy.array([65536, 256, 1], numpy.uint32)
    seen, where, counts = numpy.unique(packed, return_inverse=True, return_counts=True)
    kept = seen[numpy.argsort(counts)[::-1][:255]]
    spread = lambda c: numpy.stack([c >> 16, c >> 8 & 255, c & 255], -1).astype(numpy.int64)
    far = ((spread(seen)[:, None] - spread(kept)[None]) ** 2).sum(-1)
    index = far.argmin(1).astype(numpy.uint8)[where].reshape(height, width)
    lines = numpy.concatenate([numpy.zeros((height, 1), numpy.uint8), index], 1).tobytes()

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = spread(kept).astype(numpy.uint8).tobytes()
    body = chunk(b"IHDR", head) + chunk(b"PLTE", colours) + chunk(b"IDAT", zlib.compress(lines, 9))
    return png[:8] + body + chunk(b"IEND", b"")


def unfiltered(kind, line, above, each):
    """A line of a PNG as it was before its filter."""
    out = line.copy()
    if kind == 0:
        return out.astype(numpy.uint8)
    if kind == 2:
        return ((out + above) & 255).astype(numpy.uint8)
    if kind == 1:
        per = out.reshape(-1, each).cumsum(0).reshape(-1)
        return (per & 255).astype(numpy.uint8)
    out, above = out.tolist(), above.tolist()
    for k in range(len(out)):
        left = out[k - each] if k >= each else 0
        corner = above[k - each] if k >= each else 0
        if kind == 3:
            guess = (left + above[k]) // 2
        else:
            p = left + above[k] - corner
            guess = min((left, above[k], corner), key=lambda v: abs(p - v))
        out[k] = (out[k] + guess) & 255
    return numpy.array(out, numpy.uint8)
