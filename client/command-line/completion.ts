import { Argument, type Command, type Option } from 'commander';
import type { CommandLine } from './command-line.js';

/* Completion of commands, options and their choices, written from commander's own tree: it starts no process at a keypress. */

const shells = ['bash', 'zsh', 'fish'] as const;

export function completionCommand(program: Command, { terminal }: CommandLine): void {
  program
    .command('completion')
    .description('print the completion for a shell, for instance in ~/.bashrc: source <(labops completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: (typeof shells)[number]) => terminal.out(shell === 'fish' ? fish(program) : bash(program, shell)));
}

interface Node {
  /** `orders list`; empty for the program. */
  path: string;
  command: Command;
}

function nodesOf(command: Command, path = ''): Node[] {
  const below = command.commands.flatMap((each) => nodesOf(each, `${path} ${each.name()}`.trim()));
  return [{ path, command }, ...below];
}

/** Its own, and those of the program that it takes. */
function optionsOf({ command }: Node): readonly Option[] {
  return [...command.options, ...command.createHelp().visibleGlobalOptions(command)];
}

function wordsOf(node: Node): string[] {
  const { commands, registeredArguments } = node.command;
  return [
    ...commands.map((each) => each.name()),
    ...registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...optionsOf(node).map(({ long }) => long ?? ''),
  ];
}

/** zsh understands it with its own bashcompinit. */
function bash(program: Command, shell: 'bash' | 'zsh'): string {
  const nodes = nodesOf(program);
  const options = nodes.flatMap((node) => optionsOf(node).map((option) => ({ path: node.path, option })));
  const choices = options.flatMap(({ path, option: { long, short, argChoices = [] } }) =>
    argChoices.length === 0
      ? []
      : [
          `    '${path} ${long}'${short === undefined ? '' : `|'${path} ${short}'`}) words='${argChoices.join(' ')}' ;;`,
        ],
  );
  // Any other value is the user's own, or a file.
  const others = options.flatMap(({ option: { long, required } }) => (required ? [`*' ${long}'`] : []));
  return `${shell === 'zsh' ? 'autoload -Uz compinit bashcompinit && compinit && bashcompinit\n' : ''}_labops() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path='' words='' word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$path$word" in
      ${nodes.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`])).join('|')}) path="$path$word " ;;
    esac
  done
  path="\${path% }"
  case "$path $prev" in
${choices.join('\n')}
    ${[...new Set(others)].join('|')}) return ;;
    *) case "$path" in
${nodes.map((node) => `      '${node.path}') words='${wordsOf(node).join(' ')}' ;;`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _labops labops
`;
}

function fish(program: Command): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const lines = nodesOf(program).flatMap(({ path, command }) => {
    const [area = '', name = ''] = path.split(' ');
    const seen = [area, name].flatMap((each) => (each === '' ? [] : [`__fish_seen_subcommand_from ${each}`]));
    const names = command.commands.map((each) => each.name());
    const open = names.length === 0 ? seen : [...seen, `not __fish_seen_subcommand_from ${names.join(' ')}`];
    const add = (condition: readonly string[], what: string): string =>
      `complete -c labops ${condition.length === 0 ? '' : `-n ${quoted(condition.join('; and '))} `}${what}`;
    return [
      ...command.commands.map((each) => add(open, `-f -a ${each.name()} -d ${quoted(each.description())}`)),
      ...command.registeredArguments.flatMap(({ argChoices }) =>
        argChoices === undefined ? [] : [add(seen, `-f -a ${quoted(argChoices.join(' '))}`)],
      ),
      ...command.options.map(({ long, short, required, optional, argChoices, description }) => {
        const value =
          argChoices === undefined ? (required && !optional ? ' -r' : '') : ` -x -a ${quoted(argChoices.join(' '))}`;
        return add(
          seen,
          `-l ${long?.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}${value} -d ${quoted(description)}`,
        );
      }),
    ];
  });
  return `${lines.join('\n')}\n`;
}
