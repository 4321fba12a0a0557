/** What the conversations cost, day by day: a chart for the eye, and the same figures as a table. */

import { useEffect, useState } from "react";
import { readCosts } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Costs } from "../../api/types";
import { count, day as dayOf, dollars } from "../../lib/format";
import "./costs.css";

type Day = Costs["lines"][number];

const SHOWN = 14;
/** Days, the newest ones: as many as can be told apart on a phone. */
const SERIES = [
  { key: "sent", title: "sent" },
  { key: "cached", title: "of these, cached" },
  { key: "saved", title: "saved" },
  { key: "summary_tokens", title: "spent on summaries" },
] as const;

export default function CostsPanel() {
  const [found, setFound] = useState<Costs | Problem | null>(null);
  useEffect(() => {
    readCosts().then(setFound, (problem: unknown) => {
      if (!(problem instanceof Problem)) throw problem;
      setFound(problem);
    });
  }, []);
  if (found === null) return <p role="status">Adding up…</p>;
  if (found instanceof Problem) return <p role="alert">{found.detail.message}</p>;
  if (found.lines.length === 0)
    return <p role="status">Nothing was billed yet. What requests and summaries cost is shown here by day.</p>;
  const days = found.lines.slice(-SHOWN);
  return (
    <div className="cost-days">
      <p>
        Tokens by day, as providers billed them. Saved are the tokens that requests were shorter because of
        compressions.
      </p>
      <Chart days={days} />
      <ul className="cost-legend" aria-hidden="true">
        {SERIES.map((one) => (
          <li key={one.key}>
            <svg viewBox="0 0 10 10">
              <rect width="10" height="10" className={`cost-${one.key}`} />
            </svg>
            {one.title}
          </li>
        ))}
      </ul>
      <Table days={days} total={found.total} />
    </div>
  );
}

const WIDTH = 420;
const HEIGHT = 140;

function Chart({ days }: { days: Day[] }) {
  const most = Math.max(1, ...days.flatMap((day) => SERIES.map((one) => day[one.key])));
  const room = WIDTH / days.length;
  const bar = Math.min(24, room / 4);
  const height = (tokens: number) => (tokens / most) * HEIGHT;
  return (
    <svg className="cost-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + 2}`} role="img" aria-label={`Tokens by day, at most ${count(most)}`}>
      {days.map((day, at) =>
        SERIES.map((one) => {
          // What was cached is a part of what was sent, and stands in the same bar.
          const place = { sent: 0, cached: 0, saved: 1, summary_tokens: 2 }[one.key];
          const tall = height(day[one.key]);
          return (
            <rect
              key={`${day.name} ${one.key}`}
              className={`cost-${one.key}`}
              x={at * room + (room - 3 * bar) / 2 + place * bar}
              y={HEIGHT - tall}
              width={bar * 0.9}
              height={tall}
            >
              <title>{`${dayOf(day.name)}: ${count(day[one.key])} ${one.title}`}</title>
            </rect>
          );
        }),
      )}
      <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="cost-axis" />
    </svg>
  );
}

const spent = (day: Day): string =>
  day.dollars === null && day.summary_dollars === null ? "–" : dollars((day.dollars ?? 0) + (day.summary_dollars ?? 0));

function Table({ days, total }: { days: Day[]; total: Day }) {
  return (
    <div className="cost-table" role="region" aria-label="Costs by day" tabIndex={0}>
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">sent</th>
            <th scope="col">cached</th>
            <th scope="col">saved</th>
            <th scope="col">summaries</th>
            <th scope="col">dollars</th>
          </tr>
        </thead>
        <tbody>
          {[...days].reverse().map((day) => (
            <Row key={day.name} name={dayOf(day.name)} day={day} />
          ))}
          <Row name="All days" day={total} />
        </tbody>
      </table>
    </div>
  );
}

function Row({ name, day }: { name: string; day: Day }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{count(day.sent)}</td>
      <td>{count(day.cached)}</td>
      <td>{count(day.saved)}</td>
      <td>{count(day.summary_tokens)}</td>
      <td>{spent(day)}</td>
    </tr>
  );
}
