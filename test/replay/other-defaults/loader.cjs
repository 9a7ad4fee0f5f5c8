/**
 * A loader of webpack's: every default in a table of settings becomes another one, as a release might make it.
 * @param {string} source of a file with such a table
 */
module.exports = (source) => {
  const [, table] = /export const (\w+Settings) = /.exec(source) ?? [];
  if (table === undefined) throw new Error('This file has no table of settings');
  return `import { otherDefaults } from '${__dirname}/other-defaults.ts';
${source}
otherDefaults(${table});
`;
};
