// Runs before the terminal's own script, which reads the address of the socket from the page once it is loaded.
document.addEventListener("DOMContentLoaded", () => {
  const socket = new URL("ws", window.location.href);
  socket.protocol = socket.protocol === "https:" ? "wss:" : "ws:";
  socket.search = "";
  document.getElementById("terminal").dataset.sessionWebsocketUrl = socket.href;
  document.getElementById("again").addEventListener("click", () => window.location.reload());

  // Focus the terminal so that the user can type. It reports its focus, for which the socket must be open.
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
