/** The part of `fs-native-extensions`, which comes without declarations, that is used here. */
declare module 'fs-native-extensions' {
  /**
   * Locks the whole file for its descriptor until that is closed, at the latest when the process ends; false if
   * another descriptor has it locked, even one of this process.
   */
  export function tryLock(fd: number): boolean;
}
