export interface SettingFault {
  setting: string;
  /** The fault, as a text that follows the setting's name. */
  problem: string;
  /** The remedy. */
  remedy: string;
}

/** The settings are not valid. Holds every fault; shows no value, because any of them may be a secret. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid';
  readonly faults: readonly SettingFault[];

  /** @param hints sentences that may explain them */
  constructor(faults: readonly SettingFault[], hints: readonly string[] = []) {
    const lines = faults.map(({ setting, problem, remedy }) => `  ${setting} ${problem}: ${remedy}.`);
    const count = faults.length === 1 ? 'One setting is' : `${faults.length} settings are`;
    super(`${count} invalid:\n${[...lines, ...hints.map((hint) => `  ${hint}`)].join('\n')}`);
    this.faults = faults;
  }
}
