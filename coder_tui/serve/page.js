// Before the terminal's own script: it reads the address of the socket from the page when all is loaded.
document.addEventListener("DOMContentLoaded", () => {
  const socket = new URL("ws", window.location.href);
  socket.protocol = socket.protocol === "https:" ? "wss:" : "ws:";
  socket.search = "";
  document.getElementById("terminal").dataset.sessionWebsocketUrl = socket.href;
  document.getElementById("again").addEventListener("click", () => window.location.reload());

  // Whoever opens the page wants to type. The terminal tells of its focus, for which the socket must be open.
  const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
  const opened = new MutationObserver(() => {
    if (document.body.classList.contains("-loaded")) {
      opened.disconnect();
      focus();
      window.addEventListener("focus", focus);
    }
  });
  opened.observe(document.body, { attributes: true });
});
