export const minute = 60_000;
export const hour = 60 * minute;

/** A run is started together with its first signal; one that was started by hand reads what it is about instead. */
export const firstReportWait = '10 seconds';
