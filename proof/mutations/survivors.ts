/** Changes that make a difference and that no test notices, one by one, with the reason why that was accepted. */
export interface Accepted {
  reason: string;
  /** As `--survivors` prints them. */
  changes: readonly Survivor[];
}

export type Survivor = readonly [file: string, at: string, to: string];

export const accepted: readonly Accepted[] = [
  {
    reason: 'it saves work: the same is worked out again, or is announced under an id that was announced',
    changes: [
      ['workflows/order/announcements.ts', 'chain.endAnnounced = ⟦true⟧;', 'false'],
      ['workflows/order/announcements.ts', '(endedByStatus === true && ⟦phase !== before.phase⟧)', 'true'],
      ['workflows/order/chain.ts', 'if (⟦known⟧) return known;', 'false'],
    ],
  },
  {
    reason: 'an order that was given up, or replaced, without an event: a service without events is not known',
    changes: [
      [
        'workflows/order/announcements.ts',
        '`${order.orderId}/${⟦order.standing.last?.id⟧ ?? 0}.${outcome}/ended`,',
        'order.standing.last.id',
      ],
      ['workflows/order/chain.ts', 'const { arrivedBy = ⟦-1⟧ } = standing;', '+1'],
    ],
  },
  {
    reason: 'between two steps only a replacement brings another order, and nothing is due for that one yet',
    changes: [
      [
        'workflows/order/decisions.ts',
        'const isKnown = unreadOrder(chain) === undefined && ⟦currentOrder(chain).orderId === orderId⟧;',
        'true',
      ],
    ],
  },
  {
    reason: 'the order has ended, or another one has taken its place: nothing looks at that any more',
    changes: [
      ['workflows/order/decisions.ts', '⟦chain.met.push(key)⟧;', 'undefined'],
      ['workflows/order/replacement-decision.ts', 'return ⟦true⟧;', 'false'],
      ['workflows/order/replacement-decision.ts', 'return ⟦true⟧;', 'false'],
      ['workflows/order/replacement-decision.ts', 'if (outcomeOf(chain) !== undefined) return ⟦false⟧;', 'true'],
      ['workflows/order/replacement-decision.ts', 'return ⟦false⟧;', 'true'],
    ],
  },
  {
    reason: 'the next step, or the next turn of the main loop, does the same',
    changes: [
      ['workflows/order/decisions.ts', '⟦chain.recheckAt = nextRecheck(chain, Date.now())⟧;', 'undefined'],
      [
        'workflows/order/decisions.ts',
        "if (name !== 'problem_persists') ⟦raise(chain, { key, reason: name, orderId }, Date.now())⟧;",
        'undefined',
      ],
      ['workflows/order/identify.ts', '⟦raiseCriticalResults(run, Date.now())⟧;', 'undefined'],
      ['workflows/order/identify.ts', '⟦endPostponement(chain, Date.now())⟧;', 'undefined'],
      ['workflows/order/intake.ts', '⟦raiseCriticalResults(run, Date.now())⟧;', 'undefined'],
      ['workflows/order/intake.ts', '⟦raiseCriticalResults(run, Date.now())⟧;', 'undefined'],
      ['workflows/order/policy-change.ts', '⟦bringInLine(run)⟧;', 'undefined'],
      ['workflows/order/replacement-decision.ts', '⟦chain.recheckAt = Date.now()⟧;', 'undefined'],
    ],
  },
  {
    reason: 'a question that is asked again stands beside another one in the life that plays it',
    changes: [
      [
        'workflows/order/decisions.ts',
        'isOverdueName(name) && chain.met.includes(key) && !⟦chain.attention.some((raised) => raised.key === key)⟧,',
        'chain.attention.every(raised => raised.key === key)',
      ],
    ],
  },
  {
    reason:
      'nothing would be done without it either: the condition saves a turn of the main loop, or says what is so anyway',
    changes: [
      ['workflows/order/decisions.ts', 'if (⟦chain.unreadable.length > 0⟧) run.hasNews = true;', 'true'],
      [
        'workflows/order/decisions.ts',
        'if (⟦chain.unreadable.length > 0⟧) run.hasNews = true;',
        'chain.unreadable.length >= 0',
      ],
      ['workflows/order/identify.ts', 'if (⟦isHandOverExpected(chain)⟧) await awaitHandOver(run);', 'true'],
      [
        'workflows/order/intake.ts',
        'if (⟦chain.ending === undefined⟧ || !(isEndedByService(chain) || isFollowedAgain(chain))) return;',
        'false',
      ],
      ['workflows/order/policy-change.ts', 'if (⟦outcomeOf(chain) === undefined⟧) endWaitingUnlessDue(run);', 'true'],
      ['workflows/order/workflow.ts', 'if (⟦unreadOrder(chain) !== undefined⟧) await readUnreadOrders(run);', 'true'],
      [
        'workflows/order/workflow.ts',
        'if (⟦unfinishedOrders(chain).length > 0⟧) await readUnfinishedOrders(run);',
        'true',
      ],
      [
        'workflows/order/workflow.ts',
        'if (⟦unfinishedOrders(chain).length > 0⟧) await readUnfinishedOrders(run);',
        'unfinishedOrders(chain).length >= 0',
      ],
    ],
  },
  {
    reason: 'a kit waits for its registration or for its return, so reminders of one kind are due at a time',
    changes: [
      [
        'workflows/order/decisions.ts',
        'if (due.some((other) => ⟦other.name === name⟧ && other.at > at)) continue;',
        'true',
      ],
    ],
  },
  {
    reason: 'a person gave more time while the replacement of the same order was being ordered',
    changes: [
      [
        'workflows/order/decisions.ts',
        'return deadlinesOf(chain).some((deadline) => deadline.key === key && ⟦deadline.at <= at⟧);',
        'true',
      ],
    ],
  },
  {
    reason: 'an absence is looked at only while the order is open and the current one',
    changes: [
      [
        'workflows/order/identify.ts',
        'return gone && ⟦outcomeOf(chain) === undefined⟧ && currentOrder(chain).orderId === chain.rootOrderId;',
        'true',
      ],
      [
        'workflows/order/identify.ts',
        'return gone && outcomeOf(chain) === undefined && ⟦currentOrder(chain).orderId === chain.rootOrderId⟧;',
        'true',
      ],
    ],
  },
  {
    reason: 'the entries of an order that has failed have events, which count for more than one without',
    changes: [
      [
        'workflows/order/identify.ts',
        'const known = timeline.filter(({ orderId }) => orderId === order.orderId).map(({ eventId = ⟦-1⟧ }) => eventId);',
        '+1',
      ],
    ],
  },
  {
    reason: 'the first order of a chain is its root, a later one has a greater number, and no number is given twice',
    changes: [
      [
        'workflows/order/identify.ts',
        'const own = chain.orders.find(({ orderId }) => ⟦orderId === chain.rootOrderId⟧);',
        'true',
      ],
      ['workflows/order/replacement-order.ts', 'const later = ⟦orders.slice(orders.indexOf(order) + 1)⟧;', 'orders'],
      [
        'workflows/order/replacement-order.ts',
        'const lost = numbered.filter(({ n }) => ⟦n > own⟧ && !isOwned(n)).toSorted((a, b) => a.n - b.n)[0];',
        'n >= own',
      ],
    ],
  },
  {
    reason: 'a detail that comes later, or an entry of the timeline that is not an event, is not announced',
    changes: [
      ['workflows/order/identify.ts', 'of === orderId && ⟦eventId !== undefined⟧', 'true'],
      [
        'workflows/order/identify.ts',
        '? [{ id: eventId, at, status, ...(⟦detail !== undefined && { detail }⟧) }]',
        'true',
      ],
      [
        'workflows/order/identify.ts',
        '? [{ id: eventId, at, status, ...(⟦detail !== undefined && { detail }⟧) }]',
        'false',
      ],
      [
        'workflows/order/identify.ts',
        '? [{ id: eventId, at, status, ...(⟦detail !== undefined && { detail }⟧) }]',
        'detail !== undefined || { detail }',
      ],
      [
        'workflows/order/identify.ts',
        '? [{ id: eventId, at, status, ...(⟦detail !== undefined⟧ && { detail }) }]',
        'detail === undefined',
      ],
    ],
  },
  {
    reason: 'a run ends only when its critical results are acknowledged: it leaves none to be reminded of',
    changes: [
      [
        'workflows/order/identify.ts',
        '⟦recountReminders(chain, previous.policy.criticalResultReminder)⟧;',
        'undefined',
      ],
    ],
  },
  {
    reason:
      'a creation ends without an order only if it was refused, cancelled, or goes on in the next run, which the other two conditions ask',
    changes: [
      [
        'workflows/order/placing.ts',
        'const isCancelled = ⟦run.wasCancelled || run.attempts.consideredCancelled⟧;',
        'true',
      ],
    ],
  },
  {
    reason: 'a second entry for the same absence is not looked at',
    changes: [['workflows/order/reading.ts', 'if (⟦!before⟧) chain.absent.push({ orderId, since: now });', 'true']],
  },
  {
    reason: 'a question whose deadline is gone is cleared before this is asked',
    changes: [
      [
        'workflows/order/replacement-decision.ts',
        "({ reason, key }) => reason === 'replacement_failed' && deadlinesOf(chain).some((deadline) => ⟦deadline.key === key⟧),",
        'true',
      ],
    ],
  },
  {
    reason: 'nothing is claimed any more for a replacement that was found',
    changes: [
      [
        'workflows/order/replacement-order.ts',
        'const claimedAt = ⟦greatest.createdAt ?? iso(Date.now())⟧;',
        'greatest.createdAt && iso(Date.now())',
      ],
    ],
  },
  {
    reason:
      'no interpretation is not critical; and one that is missing for once would only be taken for a change later',
    changes: [
      [
        'workflows/order/critical-results.ts',
        'if (⟦interpretation !== undefined⟧ && isCritical(interpretation)) {',
        'true',
      ],
      [
        'workflows/order/critical-results.ts',
        'if (result && ⟦interpretation !== undefined⟧) result.orderSaid = interpretation;',
        'true',
      ],
    ],
  },
  {
    reason: 'two reports, or two moments, at the same millisecond',
    changes: [
      ['workflows/order/deadlines.ts', 'return ⟦from < firstTime⟧ ? (openedAt ?? from) : from;', 'from <= firstTime'],
      [
        'workflows/order/critical-results.ts',
        "if (⟦(news.updatedAt ?? '') > (known.updatedAt ?? '')⟧) Object.assign(known, { ...news, status: known.status });",
        "(news.updatedAt ?? '') >= (known.updatedAt ?? '')",
      ],
      [
        'workflows/report/deadlines.ts',
        'return [poll, deadline, givingUp].reduce((next, moment) => (⟦moment.at < next.at⟧ ? moment : next));',
        'moment.at <= next.at',
      ],
    ],
  },
  {
    reason: 'a job that is handed over gets its own value, and one that is not is read while its owner is looked for',
    changes: [['workflows/report/job.ts', 'isNew: ⟦false⟧,', 'true']],
  },
  {
    reason: 'the rest of the check refuses the same: a text with more than a date in it is not a date either',
    changes: [
      [
        'protocol/policy-values.ts',
        "if (typeof value !== 'string' || !⟦/^\\d{4}-\\d{2}-\\d{2}$/⟧.test(value)) return false;",
        '/\\d{4}-\\d{2}-\\d{2}$/',
      ],
      [
        'protocol/policy-values.ts',
        "if (typeof value !== 'string' || !⟦/^\\d{4}-\\d{2}-\\d{2}$/⟧.test(value)) return false;",
        '/^\\d{4}-\\d{2}-\\d{2}/',
      ],
      [
        'workflows/appointment/validation.ts',
        'return isText(value) && ⟦/^\\d{4}-\\d{2}-\\d{2}$/⟧.test(value) && !Number.isNaN(Date.parse(value));',
        '/\\d{4}-\\d{2}-\\d{2}$/',
      ],
    ],
  },
  {
    reason: 'the compiler does not know that this is always so where it is asked, and a later line says the same',
    changes: [
      ['workflows/order/decisions.ts', 'if (⟦!isOverdueName(name)⟧) continue;', 'false'],
      ['workflows/order/identify.ts', 'if (⟦own === undefined⟧ || ours?.n !== 1) return false;', 'false'],
      [
        'workflows/order/intake.ts',
        'if (reserved && ⟦ours?.root⟧ === chain.rootOrderId) reserved.orderId ??= orderId;',
        'ours.root',
      ],
      ['workflows/order/placing.ts', 'if (⟦kind === undefined⟧ || !kitKinds.includes(kind)) {', 'false'],
      ['workflows/order/replacement-order.ts', 'if (⟦!order⟧) return undefined;', 'false'],
      [
        'workflows/order/replacement-order.ts',
        "const reason = ⟦findOrder(chain, reservation.replaces)?.standing⟧.phase ?? 'unknown';",
        'findOrder(chain, reservation.replaces).standing',
      ],
      [
        'workflows/deletion/workflow.ts',
        "if (⟦outcome !== undefined⟧ && outcome !== 'failed' && endedAt !== undefined)",
        'true',
      ],
      [
        'workflows/deletion/workflow.ts',
        "if (outcome !== undefined && outcome !== 'failed' && ⟦endedAt !== undefined⟧)",
        'true',
      ],
      ['workflows/deletion/workflow.ts', "if (⟦!('userId' in opened)⟧) throw opened;", 'false'],
      ['workflows/link/commands.ts', 'if (⟦!token⟧) throw ended(link);', 'false'],
      [
        'workflows/link/commands.ts',
        "const isExpired = refusal.type === 'LinkRefused' && (⟦link.token?.expiresAt⟧ ?? Infinity) <= Date.now();",
        'link.token.expiresAt',
      ],
      ['workflows/link/reading.ts', "const sought = connectionQueryOf(link, ⟦claim?.by⟧ === 'success');", 'claim.by'],
    ],
  },
  {
    reason: 'a field that is undefined is not in the JSON that a failure, an activity or the next run gets',
    changes: [
      [
        'workflows/link/commands.ts',
        "return refuse('LinkEnded', `The link has ended: ${outcome}`, { ...(⟦outcome !== undefined⟧ && { reason: outcome }) });",
        'true',
      ],
      ['workflows/link/reading.ts', '...(⟦slug !== undefined⟧ && { sourceSlug: slug }),', 'true'],
    ],
  },
  {
    reason: 'nothing is due, and nothing waits, in an ended deletion: the steps after this condition do nothing there',
    changes: [
      [
        'workflows/deletion/workflow.ts',
        'if (⟦deletion.outcome === undefined⟧ && (await actInGracePeriod(run))) await confirm(run);',
        'true',
      ],
      [
        'workflows/deletion/workflow.ts',
        'while (⟦deletion.outcome !== undefined⟧ && !commands.isEmpty) await commands.carryOutNext(() => undo(run));',
        'true',
      ],
      [
        'workflows/deletion/workflow.ts',
        "if (⟦deletion.outcome === undefined⟧ && deletion.phase !== 'requested') await joinGrace(run, opened);",
        'true',
      ],
      [
        'workflows/deletion/workflow.ts',
        'if (⟦deletion.outcome === undefined⟧ && isUnclear) run.nextIfRestored ??= opened;',
        'true',
      ],
      [
        'workflows/deletion/commands.ts',
        "if (outcome === 'undone' || (⟦outcome === undefined⟧ && undoing !== undefined)) return;",
        'true',
      ],
    ],
  },
  {
    reason: 'it saves a turn of the main loop, which would answer the same',
    changes: [
      [
        'workflows/deletion/workflow.ts',
        "setHandler(undoUpdate, () => (⟦run.deletion.outcome === 'undone'⟧ ? stateOf(run.deletion) : askToUndo(run)), {",
        'false',
      ],
      ['workflows/deletion/workflow.ts', 'if (⟦run.undoing === undefined⟧) return;', 'false'],
    ],
  },
  {
    reason: 'at the very millisecond',
    changes: [
      [
        'workflows/match-review/commands.ts',
        "if (⟦left > 0⟧) await sleep(left, { summary: 'an earlier decision may be under way' });",
        'left >= 0',
      ],
      [
        'workflows/appointment/commands.ts',
        "if (⟦left > 0⟧) await sleep(left + afterAlarm, { summary: 'an earlier booking may be under way' });",
        'left >= 0',
      ],
      [
        'workflows/report/submit.ts',
        "if (⟦left > 0⟧) await sleep(Math.min(span, left), { summary: 'before the next upload' });",
        'left >= 0',
      ],
      [
        'workflows/report/submit.ts',
        "if (isRefused || ⟦Date.now() + span - since >= delayWorthAttention⟧) setAttention(submission, 'upload_delayed');",
        'Date.now() + span - since > delayWorthAttention',
      ],
      [
        'workflows/report/submit.ts',
        "if (⟦left > 0⟧) await sleep(left, { summary: 'for the job of the lost answer' });",
        'left >= 0',
      ],
      [
        'workflows/report/submit.ts',
        'const until = ⟦now < delayedAt⟧ ? delayedAt : now + delayWorthAttention;',
        'now <= delayedAt',
      ],
      ['workflows/order/decisions.ts', 'return ⟦recheckAt <= now⟧;', 'recheckAt < now'],
      [
        'workflows/order/policy-change.ts',
        '.filter(({ name, key, at }) => isOverdueName(name) && ⟦at > now⟧ && chain.met.includes(key))',
        'at >= now',
      ],
      [
        'workflows/order/reading.ts',
        'return unanswered !== undefined && ⟦unanswered.againAt > now⟧;',
        'unanswered.againAt >= now',
      ],
      [
        'workflows/order/replacement-order.ts',
        "if (⟦rest > 0⟧) await sleep(rest, { summary: 'before the next attempt' });",
        'rest >= 0',
      ],
      ['workflows/deletion/commands.ts', 'if (⟦Date.now() < readableAt(run)⟧) {', 'Date.now() <= readableAt(run)'],
      ['workflows/deletion/commands.ts', 'if (⟦left <= 0⟧) return;', 'left < 0'],
      [
        'workflows/deletion/grace.ts',
        "if (⟦left > 0⟧) await sleep(left, { summary: 'what was sent may still be carried out' });",
        'left >= 0',
      ],
    ],
  },
  {
    reason:
      'an error that is not the failure of an activity, such as a cancellation, would be swallowed: no life cancels this read',
    changes: [
      ['workflows/order/identify.ts', '⟦refusalOf(error)⟧;', 'undefined'],
      ['workflows/order/replacement-order.ts', 'if (⟦isCancellation(error)⟧) throw error;', 'false'],
      ['workflows/deletion/commands.ts', '⟦refusalOf(error)⟧;', 'undefined'],
      ['workflows/link/reading.ts', '⟦refusalOf(error)⟧;', 'undefined'],
    ],
  },
  {
    reason: 'a round that is over would be ended once more, which has no effect',
    changes: [
      ['workflows/delivery.ts', '} finally ⟦{ delete run.round; }⟧', '{}'],
      ['workflows/delivery.ts', '⟦delete run.round⟧;', 'undefined'],
    ],
  },
  {
    reason:
      'a cancellation ends the step after it as well; any other error that is not the failure of an activity would be swallowed, and there is none',
    changes: [
      ['workflows/entity/outbox.ts', '} catch (error) ⟦{ if (!isCancellation(error)) throw error; }⟧', '{}'],
      ['workflows/entity/outbox.ts', 'if (⟦!isCancellation(error)⟧) throw error;', 'false'],
      [
        'workflows/entity/outbox.ts',
        'letAlarmPass().catch((error: unknown) => ⟦{ if (!isCancellation(error)) throw error; }⟧);',
        '{}',
      ],
      [
        'workflows/deletion/grace.ts',
        'const settling = settled.catch((error: unknown) => ⟦{ if (!isCancellation(error)) throw error; }⟧);',
        '{}',
      ],
      ['workflows/deletion/grace.ts', 'if (⟦!isCancellation(error)⟧) throw error;', 'false'],
      ['workflows/deletion/running-work.ts', '⟦refusalOf(error)⟧;', 'undefined'],
    ],
  },
  {
    reason: 'attempts that fail in the very step in which they are called back: they begin again at once',
    changes: [
      [
        'workflows/entity/outbox.ts',
        'return ⟦isCancellation(error) && scope.consideredCancelled⟧ && !CancellationScope.current().consideredCancelled;',
        'isCancellation(error) || scope.consideredCancelled',
      ],
    ],
  },
  {
    reason: 'it gets another value before anybody looks at it',
    changes: [
      ['workflows/delivery.ts', 'const run: DeliveryRun = { delivery: open(input), hasNews: ⟦false⟧ };', 'true'],
    ],
  },
  {
    reason:
      'in which order a step schedules what goes on beside the main loop: the replay of the recorded histories in other steps notices it (decision 21)',
    changes: [
      ['workflows/entity/outbox.ts', '⟦await laterInStep()⟧;', 'laterInStep()'],
      ['workflows/entity/outbox.ts', '} while (⟦!isDue()⟧);', 'false'],
      [
        'workflows/entity/outbox.ts',
        'async function laterInStep(): Promise<void> ⟦{ let isLater = false; await condition(() => { const isNow = isLater; isLater = true; return isNow; }); }⟧',
        '{}',
      ],
      ['workflows/entity/outbox.ts', 'let isLater = ⟦false⟧;', 'true'],
      [
        'workflows/entity/outbox.ts',
        '⟦await condition(() => { const isNow = isLater; isLater = true; return isNow; })⟧;',
        'undefined',
      ],
      [
        'workflows/entity/outbox.ts',
        '⟦await condition(() => { const isNow = isLater; isLater = true; return isNow; })⟧;',
        'condition(() => { const isNow = isLater; isLater = true; return isNow; })',
      ],
    ],
  },
  {
    reason:
      'the same order: the workflows that wait for callers there bring what operators see in line before they await anything, so no delivery could be scheduled first',
    changes: [
      ['workflows/entity/loop.ts', '⟦run.isWaiting = true⟧;', 'undefined'],
      ['workflows/entity/loop.ts', 'run.isWaiting = ⟦true⟧;', 'false'],
    ],
  },
  {
    reason: 'it saves a timer of a run that waits for nothing any more',
    changes: [['workflows/entity/loop.ts', '⟦run.alarm.disarm()⟧;', 'undefined']],
  },
  {
    reason:
      'it ends in the same step: it is cancelled, or what ends it lets the main loop go on; only an error in it would be missed',
    changes: [
      ['workflows/entity/loop.ts', '⟦await delivering⟧;', 'undefined'],
      ['workflows/entity/loop.ts', '⟦await delivering⟧;', 'delivering'],
      ['workflows/entity/loop.ts', 'if (turns.meanwhile) ⟦await turns.meanwhile()⟧;', 'turns.meanwhile()'],
      ['workflows/deletion/grace.ts', '⟦await settling⟧;', 'undefined'],
      ['workflows/deletion/grace.ts', '⟦await settling⟧;', 'settling'],
    ],
  },
  {
    reason:
      'a second caller of the same new link finds it usable, and its number of a code request is another one in any case',
    changes: [
      [
        'workflows/link/commands.ts',
        'if (!joins && ⟦link.outcome !== undefined⟧) beginNext(link, { ...options, policy }, Date.now());',
        'true',
      ],
      [
        'workflows/link/commands.ts',
        "if (link.consequence !== 'ask_code_again' && link.errorType !== 'answer_lost') link.questionsDone = ⟦codeRequest + 1⟧;",
        'codeRequest - 1',
      ],
    ],
  },
  {
    reason: 'the promise is returned, so it is awaited; only an error would pass this function by, and there is none',
    changes: [
      [
        'workflows/link/commands.ts',
        'if (!connection) return ⟦await conclude(link, report)⟧;',
        'conclude(link, report)',
      ],
    ],
  },
  {
    reason: 'the callers get their answers in the same step here; on a server, an end without this could overtake them',
    changes: [
      ['workflows/delivery.ts', '⟦await condition(allHandlersFinished)⟧;', 'undefined'],
      ['workflows/delivery.ts', '⟦await condition(allHandlersFinished)⟧;', 'condition(allHandlersFinished)'],
    ],
  },
  {
    reason: 'every event and every snapshot has what this asks for, which the compiler does not know',
    changes: [
      [
        'protocol/order/lifecycle.ts',
        'if (⟦at !== undefined⟧ && place !== walk.place) enter(walk, place, at);',
        'true',
      ],
      [
        'protocol/appointment/lifecycle.ts',
        'const before = () => ⟦events.findLast((event) => known(event.status) !== undefined)?.status⟧;',
        'events.findLast(event => known(event.status) !== undefined).status',
      ],
      [
        'workflows/appointment/validation.ts',
        "appointment.ending === 'order_ended' && ⟦appointment.order !== undefined⟧",
        'true',
      ],
      ['workflows/deletion/deadlines.ts', 'return ⟦end !== undefined⟧ && now >= end;', 'true'],
    ],
  },
  {
    reason: 'the other branch does the same here',
    changes: [
      ['protocol/order/lifecycle.ts', 'if (⟦ending === undefined⟧) delete walk.ending;', 'false'],
      ['protocol/order/lifecycle.ts', "⟦case 'at_lab': return walk.place;⟧", "case 'at_lab':"],
      ['workflows/order/snapshots.ts', '...(⟦resultsBy !== undefined⟧ && { resultsBy }),', 'true'],
    ],
  },
  {
    reason: 'when an order arrived is asked only while it is at the lab',
    changes: [['protocol/order/lifecycle.ts', "if (⟦place === 'at_lab'⟧) walk.arrivedAt = at;", 'true']],
  },
  {
    reason: 'of two reports that differ and are equally late, one must stay, whichever it is',
    changes: [
      [
        'workflows/order/snapshots.ts',
        'if (!known || ⟦compareText(canonicalJson(event), canonicalJson(known)) > 0⟧) byId.set(event.id, event);',
        'compareText(canonicalJson(event), canonicalJson(known)) >= 0',
      ],
      [
        'workflows/order/snapshots.ts',
        'if (!known || ⟦compareText(canonicalJson(event), canonicalJson(known)) > 0⟧) byId.set(event.id, event);',
        'compareText(canonicalJson(event), canonicalJson(known)) <= 0',
      ],
      [
        'workflows/order/snapshots.ts',
        'Number(⟦a.activateBy !== undefined⟧) - Number(b.activateBy !== undefined) ||',
        'false',
      ],
      [
        'workflows/order/snapshots.ts',
        'Number(a.activateBy !== undefined) - Number(⟦b.activateBy !== undefined⟧) ||',
        'false',
      ],
    ],
  },
  {
    reason: 'it saves a timer that would be cancelled in the same step',
    changes: [
      [
        'workflows/report/identify.ts',
        "if (⟦!isReported()⟧) await condition(isReported, firstReportWait, { summary: 'first report' });",
        'true',
      ],
    ],
  },
  {
    reason: 'what is complete is not read anyway: leaving the field out keeps the state small',
    changes: [['workflows/report/reading.ts', 'if (⟦isIncomplete⟧) job.endRead = status;', 'true']],
  },
  {
    reason: 'only the sentence for people changes: lives compare the types of refusals',
    changes: [
      [
        'workflows/appointment/commands.ts',
        "const when = ⟦startAt === undefined⟧ ? 'without a time yet' : `at ${startAt}`;",
        'startAt !== undefined',
      ],
      [
        'workflows/appointment/commands.ts',
        "const when = ⟦startAt === undefined⟧ ? 'without a time yet' : `at ${startAt}`;",
        'false',
      ],
      [
        'workflows/appointment/commands.ts',
        "const when = ⟦startAt === undefined⟧ ? 'without a time yet' : `at ${startAt}`;",
        'true',
      ],
      [
        'workflows/report/submit.ts',
        "return refuse('ReportEnded', `The submission has failed: ${⟦failure.type ?? ''⟧}`);",
        "failure.type && ''",
      ],
      [
        'workflows/deletion/running-work.ts',
        "const ids = workflows.map(⟦({ workflowId }) => workflowId⟧).join(', ');",
        '() => undefined',
      ],
    ],
  },
  {
    reason: 'a timeout has no type, so it is treated as if there were no failure',
    changes: [
      ['workflows/report/submit.ts', 'if (⟦!(cause instanceof ApplicationFailure)⟧) return undefined;', 'false'],
    ],
  },
  {
    reason: 'a wait that is over already lasts a millisecond more',
    changes: [
      [
        'workflows/match-review/commands.ts',
        "if (⟦left > 0⟧) await sleep(left, { summary: 'an earlier decision may be under way' });",
        'true',
      ],
      [
        'workflows/report/submit.ts',
        "if (⟦left > 0⟧) await sleep(Math.min(span, left), { summary: 'before the next upload' });",
        'true',
      ],
    ],
  },
  {
    reason: 'the key of a slot at home is never sent',
    changes: [['workflows/appointment/commands.ts', 'if (⟦site !== undefined⟧) keyFor(appointment, slotId);', 'true']],
  },
  {
    reason:
      'the compiler does not know that this is always so where it is asked, or that nothing follows from it otherwise',
    changes: [
      [
        'workflows/match-review/reading.ts',
        "if (⟦typeof id !== 'string'⟧ || canonicalId(id) !== canonicalId(rawResultId)) return undefined;",
        'false',
      ],
      [
        'workflows/match-review/commands.ts',
        'return one === undefined || ⟦other === undefined⟧ ? one === other : canonicalId(one) === canonicalId(other);',
        'false',
      ],
      [
        'workflows/match-review/commands.ts',
        'return ⟦one === undefined⟧ || other === undefined ? one === other : canonicalId(one) === canonicalId(other);',
        'false',
      ],
      [
        'workflows/match-review/commands.ts',
        'return ⟦one === undefined || other === undefined⟧ ? one === other : canonicalId(one) === canonicalId(other);',
        'one === undefined && other === undefined',
      ],
      [
        'workflows/match-review/commands.ts',
        'return ⟦one === undefined || other === undefined⟧ ? one === other : canonicalId(one) === canonicalId(other);',
        'false',
      ],
      [
        'workflows/appointment/reading.ts',
        'if (⟦appointment.askAgainAt !== undefined⟧ && now >= appointment.askAgainAt) delete appointment.askAgainAt;',
        'true',
      ],
      [
        'workflows/appointment/reading.ts',
        'if (⟦appointment.doubtUntil !== undefined⟧ && now >= appointment.doubtUntil) delete appointment.doubtUntil;',
        'true',
      ],
      [
        'workflows/appointment/commands.ts',
        'if (⟦known?.appointmentId⟧ === appointmentId && !mayBeOver(known, Date.now())) forget(appointment, known, Date.now());',
        'known.appointmentId',
      ],
      ['workflows/appointment/commands.ts', '...(isWalkIn(open) && ⟦type !== undefined⟧ && { type }),', 'true'],
    ],
  },
  {
    reason: 'what is thrown is a refusal already, and the appointment that was to be cancelled is forgotten by then',
    changes: [
      [
        'workflows/appointment/commands.ts',
        'if (!snapshot) return ⟦await expectNoOther(appointment, appointmentId)⟧;',
        'expectNoOther(appointment, appointmentId)',
      ],
    ],
  },
  {
    reason: 'an appointment that was cancelled earlier is not asked about again, and undefined stands for nothing',
    changes: [
      [
        'workflows/appointment/commands.ts',
        'if (⟦before === undefined⟧) delete appointment.cancelledId;',
        'before !== undefined',
      ],
      ['workflows/appointment/commands.ts', 'if (⟦before === undefined⟧) delete appointment.cancelledId;', 'false'],
      ['workflows/appointment/commands.ts', 'if (⟦before === undefined⟧) delete appointment.cancelledId;', 'true'],
    ],
  },
  {
    reason: 'an appointment whose order is gone has ended, and shows nothing of its order',
    changes: [
      [
        'workflows/appointment/reading.ts',
        "if (order === 'open' || ⟦order === 'gone'⟧) delete appointment.order;",
        'false',
      ],
      ['workflows/appointment/reading.ts', "if (⟦reading.order !== 'gone'⟧) delete appointment.absentSince;", 'true'],
    ],
  },
  {
    reason: 'an end is followed by reads for a minute, in which the order would have to become gone for ten',
    changes: [
      [
        'workflows/appointment/reading.ts',
        "if (order === 'gone' && ⟦appointment.ending === undefined⟧) appointment.ending = 'order_gone';",
        'true',
      ],
    ],
  },
  {
    reason: 'a field that is undefined is not in the JSON of a state',
    changes: [
      ['workflows/match-review/reading.ts', 'if (⟦previous.decision⟧) review.decision = previous.decision;', 'true'],
      [
        'workflows/appointment/reading.ts',
        '...(⟦texts.status !== undefined⟧ && { status: oneName(texts.status) }),',
        'true',
      ],
      ['workflows/deletion/scheduling.ts', 'if (⟦connections⟧) deletion.connections = connections;', 'true'],
    ],
  },
  {
    reason: 'a lane that is over is forgotten only to save memory',
    changes: [
      [
        'workflows/entity/commands.ts',
        '} finally ⟦{ if (this.last.get(subject) === done) this.last.delete(subject); }⟧',
        '{}',
      ],
      ['workflows/entity/commands.ts', 'if (⟦this.last.get(subject) === done⟧) this.last.delete(subject);', 'false'],
      [
        'workflows/entity/commands.ts',
        'if (this.last.get(subject) === done) ⟦this.last.delete(subject)⟧;',
        'undefined',
      ],
    ],
  },
  {
    reason: 'Markdown shows no spaces around a text',
    changes: [
      [
        'workflows/entity/operators.ts',
        "return ⟦text.replaceAll(/[^\\p{L}\\p{N} _.:,/()+-]/gu, '·').trim()⟧ || '·';",
        "text.replaceAll(/[^\\p{L}\\p{N} _.:,/()+-]/gu, '·')",
      ],
    ],
  },
  {
    reason:
      'another question has this key, or stands for another order, only if a reference is called so, or if two kits are cancelled or replaced at once',
    changes: [
      [
        'workflows/order/commands.ts',
        "clear(run.chain, (raised) => ⟦raised.key === key && raised.reason === 'cancellation_failed'⟧, Date.now());",
        "raised.key === key || raised.reason === 'cancellation_failed'",
      ],
      [
        'workflows/order/commands.ts',
        "clear(run.chain, (raised) => ⟦raised.key === key⟧ && raised.reason === 'cancellation_failed', Date.now());",
        'true',
      ],
      [
        'workflows/order/commands.ts',
        "clear(run.chain, (raised) => raised.key === key && ⟦raised.reason === 'cancellation_failed'⟧, Date.now());",
        'true',
      ],
      [
        'workflows/order/replacement-order.ts',
        "clear(chain, (attention) => attention.reason === 'replacement_failed' && ⟦attention.orderId === orderId⟧, Date.now());",
        'true',
      ],
    ],
  },
];
