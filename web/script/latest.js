// Runs one asynchronous action at a time; of values during it, only the last counts. For sliders and searches.

export function latest(action) {
  let isRunning = false;
  let waiting = null;
  return async function run(value) {
    if (isRunning) {
      waiting = { value };
      return;
    }
    isRunning = true;
    try {
      await action(value);
    } finally {
      isRunning = false;
      if (waiting !== null) {
        const next = waiting.value;
        waiting = null;
        run(next);
      }
    }
  };
}
