/** What was just sent, until the server says that it is stored. */

export function PendingRow({ text }: { text: string }) {
  return (
    <article className="message user pending" aria-label="You" aria-busy="true">
      <div className="message-body" dir="auto">
        <p className="plain">{text}</p>
      </div>
    </article>
  );
}
