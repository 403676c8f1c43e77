// A page that was opened from a disk may not start workers. There, a hidden frame runs the worker's script instead,
// so that the search of the site works in a folder, too.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.srcdoc =
        "<script>window.postMessage = message => parent.postMessage({ worker: message }, '*')</script>" +
        `<script src="${url}"></script>`
      this.ready = new Promise(resolve => frame.addEventListener("load", () => resolve(frame.contentWindow)))
      window.addEventListener("message", event => {
        if (event.source === frame.contentWindow && event.data && "worker" in event.data)
          this.dispatchEvent(new MessageEvent("message", { data: event.data.worker }))
      })
      document.body.append(frame)
    }
    postMessage(message) {
      this.ready.then(worker => worker.dispatchEvent(new MessageEvent("message", { data: message })))
    }
  }
}
