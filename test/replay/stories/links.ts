import { until } from '../stage.js';
import type { Story } from './story.js';

export const links: readonly Story[] = [
  /** A wrong code, the right one, another question, and the connection. */
  async function linkedWithCodes(stage) {
    const link = await stage.link();
    await link.logIn('mfa-again');
    await link.handle.submitMfaCode({ code: '111111' });
    await link.handle.submitMfaCode({ code: '123456' });
    await link.handle.submitMfaCode({ code: '654321' });
    await link.handle.result();
    return { 'link-with-codes': link.workflowId };
  },

  /** Logins that fail, a token that is replaced, an unknown state, and a connection that only its webhook reports. */
  async function linkedByWebhook(stage) {
    const link = await stage.link();
    await link.logIn('error-provider_credential_error');
    await link.logIn('error-token_expired');
    await link.logIn('state-state_of_next_year');
    await stage.sandbox.sendConnectionWebhook(link.handle.userId, { provider: link.handle.provider });
    await link.enterPassword('ok');
    await link.handle.result();
    return { 'link-by-webhook': link.workflowId };
  },

  /** A success that never shows, then a code that nobody gives, with its reminder. */
  async function expiredLink(stage) {
    const link = await stage.link({ confirmationWait: '1s', codeReminder: '1s', codeWait: '3s' });
    await link.handle.reportLinkResult({ state: 'success' });
    await until(link.handle, ({ attention }) => attention.length > 0);
    await link.logIn('mfa-sms');
    await link.handle.result();
    return { 'link-expired': link.workflowId };
  },

  /** As many wrong codes as are allowed. */
  async function failedLink(stage) {
    const link = await stage.link({ maxCodeAttempts: 2 });
    await link.logIn('mfa-sms');
    await link.handle.submitMfaCode({ code: '111111' });
    await link.handle.submitMfaCode({ code: '111111' });
    await link.handle.result();
    return { 'link-failed': link.workflowId };
  },

  async function cancelledLink(stage) {
    const link = await stage.link();
    await link.logIn('mfa-sms');
    await link.handle.cancel();
    await link.handle.result();
    return { 'link-cancelled': link.workflowId };
  },

  async function linkCancelledByOperator(stage) {
    const link = await stage.link();
    await link.logIn('mfa-sms');
    await stage.temporal.workflow.getHandle(link.workflowId).cancel();
    await link.handle.result();
    return { 'link-cancelled-by-operator': link.workflowId };
  },
];
