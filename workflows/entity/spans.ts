export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** A run is started together with its first signal; one that was started manually reads what it is about instead. */
export const firstReportWait = '10 seconds';
