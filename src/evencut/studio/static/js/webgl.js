// Points drawn by graphics hardware, where there is some: places and colours stay in its memory, so that another view is four
// numbers and other colours are a small table. It paints what raster.js paints, to the pixel.

const SETTING = "evencut-renderer"; // in the browser's storage: "webgl" or "memory" whatever the machine has
const LARGE = 20000; // points from which it pays
const MOVING = 3e6; // points a frame while the view moves
const MARGIN = 64; // a point whose middle is outside is still seen by its rim
const TABLE_WIDTH = 2048;
const BLOCK = 8;

const POINTS = `#version 300 es
  in vec2 place;
  in int shade;
  in uint chosen;
  uniform vec4 map;
  uniform vec2 size;
  uniform float wide;
  uniform vec2 snap;
  uniform bool inked;
  uniform vec3 ink;
  uniform highp sampler2D table;
  flat out vec3 colour;
  void main() {
    vec2 at = floor(place * map.xy + map.zw - snap.x) + snap.y + ${MARGIN}.0;
    vec2 window = size + ${2 * MARGIN}.0;
    // By its bits: a comparison of what is missing (NaN) may be optimised away.
    bool missing = (floatBitsToUint(place.x) & 0x7fffffffu) > 0x7f800000u || (floatBitsToUint(place.y) & 0x7fffffffu) > 0x7f800000u;
    gl_Position = missing || chosen == 0u ? vec4(2, 2, 2, 1) : vec4((at / window * 2.0 - 1.0) * vec2(1, -1), 0, 1);
    gl_PointSize = wide;
    int cell = shade + 1;
    colour = inked ? ink : texelFetch(table, ivec2(cell % ${TABLE_WIDTH}, cell / ${TABLE_WIDTH}), 0).rgb;
  }`;
const DISC = `#version 300 es
  precision highp float;
  uniform float wide;
  uniform float radius;
  flat in vec3 colour;
  out vec4 paint;
  void main() {
    float inside = radius > 0.0 ? 0.92 * clamp(radius + 0.5 - length((gl_PointCoord - 0.5) * wide), 0.0, 1.0) : 1.0;
    paint = vec4(colour, inside);
  }`;
const ALL = `#version 300 es
  void main() {
    gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1);
  }`;
const MOST = `#version 300 es
  precision highp float;
  uniform highp sampler2D sums;
  out vec4 most;
  void main() {
    ivec2 size = textureSize(sums, 0);
    most = vec4(0);
    for (int y = 0; y < ${BLOCK}; y++) {
      for (int x = 0; x < ${BLOCK}; x++) {
        ivec2 at = ivec2(gl_FragCoord.xy) * ${BLOCK} + ivec2(x, y);
        if (at.x < size.x && at.y < size.y) most = max(most, texelFetch(sums, at, 0));
      }
    }
  }`;
const SHADE = `#version 300 es
  precision highp float;
  uniform highp sampler2D sums;
  uniform highp sampler2D most;
  uniform vec3 ground;
  out vec4 paint;
  void main() {
    vec4 sum = texelFetch(sums, ivec2(gl_FragCoord.xy), 0);
    if (sum.a == 0.0) discard;
    float strong = 0.2 + 0.8 * log(1.0 + sum.a) / log(1.0 + max(1.0, texelFetch(most, ivec2(0), 0).a));
    paint = vec4(mix(ground, sum.rgb / sum.a, strong), 1);
  }`;

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

/** A painter on a canvas for so many points; null where points are better painted in memory. `lost` is called when it ends. */
export function openWebGL(canvas, n, lost) {
  const setting = localStorage.getItem(SETTING);
  if (setting === "memory" || (setting !== "webgl" && n < LARGE)) return null;
  const slow = setting === "webgl";
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, preserveDrawingBuffer: true, failIfMajorPerformanceCaveat: !slow });
  // Densities are sums of floating-point numbers.
  if (!gl?.getExtension("EXT_color_buffer_float") || !gl.getExtension("EXT_float_blend")) return null;
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  if (!slow && named && /swiftshader|llvmpipe|softpipe|basic render/i.test(gl.getParameter(named.UNMASKED_RENDERER_WEBGL))) return null;
  let painter;
  try {
    painter = new Hardware(canvas, gl);
  } catch {
    return null; // a driver that promises more than it can do
  }
  canvas.addEventListener("webglcontextlost", lost);
  canvas.dataset.renderer = "webgl";
  return painter;
}

class Hardware {
  constructor(canvas, gl) {
    Object.assign(this, { canvas, gl });
    this.buffers = new Map();
    this.layers = [];
    this.points = this.#program(POINTS, DISC, ["place", "shade", "chosen"]);
    this.most = this.#program(ALL, MOST);
    this.shade = this.#program(ALL, SHADE);
    this.table = this.#texture();
    this.#drop(this.#layer(1, 1));
  }

  /** As `Raster.paint`; `turns` changes with the places in `xy`. */
  paint({ width, height, ground, ink, xy, turns, parts, map, radius, dense = false, budget = null, selected = null }) {
    const { gl } = this;
    if (gl.isContextLost()) return;
    this.#resize(width, height);
    this.used = new Set();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(...channels(ground), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    const n = xy.length / 2;
    const scene = { xy, turns, map, step: budget === null ? 1 : Math.min(31, Math.ceil(n / MOVING)) };
    for (const { colours, clip = [0, width] } of parts) {
      gl.scissor(clip[0], 0, clip[1] - clip[0], height);
      if (dense) this.#shade(scene, colours, channels(ground));
      else this.#draw(scene, colours, radius);
    }
    if (selected) {
      const chosen = { ...scene, step: 1, mask: selected.mask };
      gl.scissor(0, 0, width, height);
      this.#draw({ ...chosen, ink: channels(ink) }, parts[0].colours, selected.radius);
      this.#draw(chosen, parts[0].colours, radius);
    }
    this.#forgetOthers();
  }

  #resize(width, height) {
    const { gl, canvas } = this;
    if (canvas.width === width && canvas.height === height && this.layers.length) return;
    canvas.width = width;
    canvas.height = height;
    for (const layer of this.layers) this.#drop(layer);
    // Sums of all pixels, then the most of each block of pixels, until one is left.
    this.layers = [this.#layer(width, height)];
    for (let [w, h] = [width, height]; w * h > 1; ) {
      [w, h] = [Math.ceil(w / BLOCK), Math.ceil(h / BLOCK)];
      this.layers.push(this.#layer(w, h));
    }
  }

  #layer(width, height) {
    const { gl } = this;
    const texture = this.#texture();
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, width, height);
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    if (gl.checkFramebufferStatus(gl.FRAMEBUFFER) !== gl.FRAMEBUFFER_COMPLETE) throw new Error("no floating-point layers");
    return { texture, frame, width, height };
  }

  #drop({ texture, frame }) {
    this.gl.deleteTexture(texture);
    this.gl.deleteFramebuffer(frame);
  }

  #texture() {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    return texture;
  }

  #program(vertex, fragment, attributes = []) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    attributes.forEach((name, place) => gl.bindAttribLocation(program, place, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const places = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(program, i);
      places[name] = gl.getUniformLocation(program, name);
    }
    return { program, places };
  }

  /** Squares of pixels where points are small, discs otherwise. */
  #draw(scene, colours, radius) {
    const { gl } = this;
    const round = radius >= 2;
    const exact = Math.round(radius * 4) / 4;
    const wide = round ? 2 * Math.ceil(exact) + 1 : Math.max(1, Math.round(radius * 2));
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
    this.#send(scene, colours, { wide, radius: round ? exact : 0, snap: round ? [-0.5, 0.5] : [wide / 2, wide / 2] });
  }

  /** Sums of colours and numbers of points in every pixel, then shades of them. */
  #shade(scene, colours, ground) {
    const { gl, layers } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, layers[0].frame);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    this.#send(scene, colours, { wide: 1, radius: 0, snap: [0, 0.5] });
    gl.disable(gl.BLEND);
    gl.disable(gl.SCISSOR_TEST);
    for (let i = 1; i < layers.length; i++) this.#fill(this.most, layers[i], { sums: layers[i - 1].texture });
    gl.enable(gl.SCISSOR_TEST);
    gl.useProgram(this.shade.program);
    gl.uniform3f(this.shade.places.ground, ...ground);
    this.#fill(this.shade, { frame: null, width: this.canvas.width, height: this.canvas.height }, { sums: layers[0].texture, most: layers.at(-1).texture });
  }

  #fill({ program, places }, { frame, width, height }, textures) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.viewport(0, 0, width, height);
    gl.useProgram(program);
    Object.entries(textures).forEach(([name, texture], unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1i(places[name], unit);
    });
    for (const place of [0, 1, 2]) gl.disableVertexAttribArray(place);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  #send({ xy, turns, map, step, mask = null, ink = null }, { index, table }, { wide, radius, snap }) {
    const { gl } = this;
    const { program, places } = this.points;
    const { width, height } = this.canvas;
    gl.useProgram(program);
    gl.viewport(-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN);
    gl.uniform4f(places.map, map.sx, map.sy, map.tx, map.ty);
    gl.uniform2f(places.size, width, height);
    gl.uniform2f(places.snap, ...snap);
    gl.uniform1f(places.wide, wide);
    gl.uniform1f(places.radius, radius);
    gl.uniform1i(places.inked, ink ? 1 : 0);
    gl.uniform3f(places.ink, ...(ink ?? [0, 0, 0]));
    gl.uniform1i(places.table, 0);
    this.#sendTable(table);
    this.#attribute(0, xy, turns);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 8 * step, 0);
    this.#attribute(1, index, 0);
    const bytes = index.BYTES_PER_ELEMENT;
    gl.vertexAttribIPointer(1, 1, { 1: gl.BYTE, 2: gl.SHORT, 4: gl.INT }[bytes], bytes * step, 0);
    if (mask) {
      this.#attribute(2, mask, 0);
      gl.vertexAttribIPointer(2, 1, gl.UNSIGNED_BYTE, 0, 0);
    } else {
      gl.disableVertexAttribArray(2);
      gl.vertexAttribI4ui(2, 1, 0, 0, 0);
    }
    gl.drawArrays(gl.POINTS, 0, Math.ceil(index.length / step));
  }

  /** An array as an attribute: sent where it is new or was changed. */
  #attribute(place, array, version) {
    const { gl, buffers } = this;
    const known = buffers.get(array) ?? { buffer: gl.createBuffer() };
    gl.bindBuffer(gl.ARRAY_BUFFER, known.buffer);
    if (known.version !== version) gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
    buffers.set(array, { ...known, version });
    this.used.add(array);
    gl.enableVertexAttribArray(place);
  }

  #sendTable(table) {
    const { gl } = this;
    const rows = Math.ceil(table.length / TABLE_WIDTH);
    const cells = new Uint32Array(rows * TABLE_WIDTH);
    cells.set(table);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.table);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, TABLE_WIDTH, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(cells.buffer));
  }

  #forgetOthers() {
    for (const [array, { buffer }] of this.buffers) {
      if (this.used.has(array)) continue;
      this.gl.deleteBuffer(buffer);
      this.buffers.delete(array);
    }
  }
}
