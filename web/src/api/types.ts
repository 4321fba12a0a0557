/** Short names for what the interface sends and takes; all made from the OpenAPI document. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Conversation = Schemas["ConversationOut"];
export type Document = Schemas["DocumentOut"];
export type Labels = Schemas["LabelList"];
export type Conversations = Schemas["ConversationList"];
export type Imported = Schemas["ImportedOut"];
export type Message = Schemas["MessageOut"];
export type MessagePage = Schemas["MessagePage"];
export type Messages = Schemas["MessageList"];
export type Tree = Schemas["TreeOut"];
export type TreeNode = Schemas["TreeNode"];
export type Hit = Schemas["HitOut"];
export type Hits = Schemas["HitList"];
export type Part = Message["parts"][number];
export type PartIn = Exclude<NonNullable<Schemas["TurnIn"]["content"]>, string>[number];
export type Models = Schemas["ModelsOut"];
export type Provider = Schemas["ProviderOut"];
export type Usage = Schemas["UsageOut"];
export type Plan = Schemas["PlanOut"];
export type Snapshot = Schemas["SnapshotOut"];
export type SnapshotMoved = Schemas["SnapshotMoved"];
export type SummarySize = Schemas["SummarySizeOut"];
export type SnapshotFull = Schemas["SnapshotFull"];
export type Snapshots = Schemas["SnapshotList"];
export type Costs = Schemas["CostList"];
export type Receipt = Schemas["ReceiptOut"];
export type Pin = Schemas["PinOut"];
export type Pins = Schemas["PinList"];
export type Tasks = Schemas["TasksOut"];
export type Settings = Schemas["SettingsOut"];
export type SettingsIn = Partial<Schemas["SettingsIn"]>;
export type TurnIn = Partial<Schemas["TurnIn"]>;
export type CompressIn = Partial<Schemas["CompressIn"]>;
export type Task = Schemas["TaskOut"];
export type Caller = Schemas["CallerOut"];
export type ErrorDetail = Schemas["ErrorDetail"];
export type Card = Schemas["CardOut"];
export type CardIn = Partial<Schemas["CardIn"]>;
export type Key = Schemas["KeyOut"];
export type KeyIn = Partial<Schemas["KeyIn"]> & { name: string };
export type KeyMade = Schemas["KeyMade"];
export type Keys = Schemas["KeyList"];
export type Context = Schemas["ContextOut"];
export type Recalled = Schemas["RecallOut"];
export type Passage = Schemas["PassageOut"];

/** A message as events carry it: without what only the store knows. */
export type StoredMessage = Omit<
  Message,
  "model" | "input_tokens" | "output_tokens" | "created" | "sibling" | "siblings" | "recalled"
>;
