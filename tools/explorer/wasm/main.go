//go:build js && wasm

// Command wasm is the program inside the interactive page: it puts the functions of package
// explore into the global scope of a Web Worker, each from a JSON text to a JSON text.
package main

import (
	"syscall/js"

	"grposim/tools/explorer/explore"
)

func main() {
	explorer := explore.New()
	for _, name := range explore.Functions() {
		js.Global().Set(name, js.FuncOf(func(_ js.Value, request []js.Value) any {
			return string(explorer.Call(name, []byte(request[0].String())))
		}))
	}
	select {} // the functions are called until the page closes
}
