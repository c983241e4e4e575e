// What Nibbler's renderer needs of Electron and Node, for a plain browser. `serve.py` reads files and runs engines for it.
"use strict";

const global = window, __dirname = "", process = {argv: [""], memoryUsage: () => ({})};

function ask(path, body) {
	const request = new XMLHttpRequest();
	request.open(body === undefined ? "GET" : "POST", path, false);		// the renderer's calls are synchronous
	request.send(body);
	if (request.status !== 200) throw new Error(`${path}: ${request.responseText}`);
	return request.responseText;
}

class Emitter {
	constructor() { this.listeners = []; }
	on(name, listener) { this.listeners.push([name, listener]); }
	once(name, listener) { this.on(name, listener); }
	emit(name, ...args) { for (const [wanted, listener] of this.listeners) if (wanted === name) listener(...args); }
}

function spawn(program, args) {
	const id = ask("/spawn", JSON.stringify([program, ...args]));
	const exe = Object.assign(new Emitter(), {stdout: new Emitter(), stderr: new Emitter(), kill: () => {}});
	let line = "";
	exe.stdin = {write: text => { if ((line += text).endsWith("\n")) { ask(`/stdin?${id}`, line); line = ""; } }};
	const source = new EventSource(`/output?${id}`);
	for (const name of ["stdout", "stderr"]) source.addEventListener(name, event => exe[name].emit("line", event.data));
	return exe;
}

const query = Object.fromEntries(new URLSearchParams(location.search));
const ipc = new Emitter();
ipc.send = (name, message) => {
	if (name === "alert") ask("/alert", String(message));
	// A menu of the main process would send this call.
	if (name === "renderer_ready" && query.behaviour) {
		setTimeout(() => ipc.emit("call", null, {fn: "set_behaviour", args: [query.behaviour]}), 1000 * query.after);
	}
};

const modules = {
	child_process: {spawn},
	electron: {clipboard: {}, ipcRenderer: ipc},
	fs: {
		existsSync: path => ask(`/exists?${path}`) === "yes",
		readFileSync: path => ask(`/read?${path}`),
		writeFileSync: (path, text) => ask(`/write?${path}`, text),
		readdirSync: () => [],
		mkdirSync: () => {},
	},
	path: {
		basename: path => path.split("/").pop(),
		dirname: path => path.split("/").slice(0, -1).join("/"),
		join: (...parts) => parts.filter(part => part !== "").join("/"),
	},
	querystring: {parse: text => Object.fromEntries(new URLSearchParams(text))},
	readline: {createInterface: ({input}) => input},
	util: {TextDecoder},
};

function require(name) {
	if (!name.startsWith("./")) return modules[name];
	name = name.split("/").pop();
	if (!modules[name]) {
		const module = {exports: {}};
		new Function("module", "exports", "require", ask(`/modules/${name}.js`))(module, module.exports, require);
		modules[name] = module.exports;
	}
	return modules[name];
}
