// A worker starts the program that the page posts, then calls one of its functions per
// message. Arguments and results are JSON texts.
onmessage = async ({ data: program }) => {
  const go = new Go();
  const instance = await WebAssembly.instantiate(program, go.importObject);
  onmessage = ({ data: [name, argument] }) => postMessage(globalThis[name](argument));
  go.run(instance);
  postMessage("ready");
};
