/** Reports progress to the person who waits. */
export interface Report {
  /** One finished sentence. */
  say(text: string): void;
  /** Shows that the work goes on, with the seconds it has taken, until it has ended. */
  during<T>(text: string, work: () => Promise<T>): Promise<T>;
}

/** In place where a person watches; elsewhere (a log) a line now and then. */
const terminalTickMs = 1_000;
const logTickMs = 5_000;

export function progressReport(stream: NodeJS.WriteStream = process.stderr): Report {
  const say = (text: string): void => {
    stream.write(`temporal: ${text}\n`);
  };
  return {
    say,
    during: async (text, work) => {
      const started = Date.now();
      const show = (): void => {
        const line = `temporal: ${text} … ${Math.round((Date.now() - started) / 1000)} s`;
        stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
      };
      show();
      const timer = setInterval(show, stream.isTTY ? terminalTickMs : logTickMs);
      try {
        return await work();
      } finally {
        clearInterval(timer);
        if (stream.isTTY) stream.write('\n');
      }
    },
  };
}
