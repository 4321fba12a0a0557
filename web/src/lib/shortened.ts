/** Pages of messages hold the beginning of very long texts only; the server says so in its last line. */

const NOTE = /\n\[… [\d,]+ more characters are stored\]$/;

export const isShortened = (text: string): boolean => NOTE.test(text);
