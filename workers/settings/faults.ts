import { invalid } from '../../service/lab-operations-error.js';

export interface SettingFault {
  setting: string;
  /** The fault, as a text that follows the setting's name. */
  problem: string;
  /** The remedy. */
  remedy: string;
}

/** The settings are not valid. Holds every fault; shows no value, because any of them may be a secret. */
export class ConfigInvalid extends invalid('ConfigInvalid', 'Correct the settings that are named.') {
  static override readonly advises = true;
  readonly faults: readonly SettingFault[];

  /** @param hints sentences that may explain them */
  constructor(faults: readonly SettingFault[], hints: readonly string[] = []) {
    const lines = faults.map(({ setting, problem, remedy }) => `  ${setting} ${problem}: ${remedy}.`);
    const count = faults.length === 1 ? 'One setting is' : `${faults.length} settings are`;
    const fields = faults.map(({ setting, problem, remedy }) => ({ field: setting, message: `${problem}: ${remedy}` }));
    super(`${count} invalid:\n${[...lines, ...hints.map((hint) => `  ${hint}`)].join('\n')}`, { fields });
    this.faults = faults;
  }
}
