/** A file on its way to the server, which reads its text. */

export interface Upload {
  id: number;
  name: string;
  /** How much of it is sent, from 0 to 1; then it is being read. */
  share: number;
  cancel: () => void;
}
