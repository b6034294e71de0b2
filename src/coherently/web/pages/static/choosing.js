// A choice in a form that has data-send takes effect at once.
export function sendOnChange() {
  document.addEventListener("change", event => {
    const form = event.target.form;
    if (form && "send" in form.dataset) form.requestSubmit();
  });
}
