import type { LinkState } from '../../../client/index.js';
import type { PlayedLink } from '../played.js';
import type { Stage, Story } from '../stage.js';

/** By the sandbox's conventions (docs/sandbox.md): a code is asked for by SMS, and further ones by e-mail. */
const username = 'mfa-sms-testperson';
const rightCodes: Readonly<Record<string, string>> = { sms: '123456', email: '654321' };
const mistypedCode = '111111';

/** After so many answers of the person who watches, the story types the code itself, so it ends. */
const mostQuestions = 5;

export const linkWithCode: Story = {
  label: 'link',
  colour: 'magenta',
  inRealTime: true,
  promise: 'A user links a device. The provider asks for a code that only the user has, and the user mistypes it once.',
  patienceMs: 180_000,
  async play(stage) {
    const link = await stage.link('invented_watch');
    await stage.moment();
    const asked = await link.logIn(username);
    stage.check('the provider asks for a code', asked.phase === 'awaiting_code' && asked.mfa?.hint !== undefined);
    await stage.moment();
    stage.acts(`the user mistypes it: ${mistypedCode}`);
    const mistyped = await link.submit(mistypedCode);
    stage.check('a wrong code costs an attempt', mistyped?.outcome === 'wrong_code' && mistyped.attemptsLeft === 2);
    const answers = await typeCodes(stage, link);
    const { outcome, connectedAt, errorType } = await link.end();
    // The person who watches may have typed a code that ends a link.
    const isConnected = outcome === 'connected' && connectedAt !== undefined;
    stage.check('the link is connected', isConnected || answers > 0);
    return isConnected ? 'connected after a wrong code, confirmed by the lab service' : `${outcome}: ${errorType}`;
  },
};

/** Types codes until the link has ended. Returns how many of them a person has typed. */
async function typeCodes(stage: Stage, link: PlayedLink): Promise<number> {
  let answers = 0;
  for (;;) {
    const state = await link.handle.state();
    if (state.phase === 'awaiting_password') await link.logIn(username);
    else if (state.phase !== 'awaiting_code') return answers;
    else {
      await stage.moment();
      const typed = answers < mostQuestions ? await stage.typed(questionFor(state)) : undefined;
      if (typed !== undefined) answers += 1;
      const code = typed ?? rightCode(state);
      stage.acts(`the user types ${code}`);
      await link.submit(code);
    }
  }
}

function questionFor(state: LinkState): string {
  return `type the code, which is ${rightCode(state)}, and press Enter`;
}

function rightCode({ mfa }: LinkState): string {
  return rightCodes[mfa?.method ?? 'sms'] ?? mistypedCode;
}
