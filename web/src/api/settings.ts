// Made by `python -m scripts.web_types` from the table of settings; do not edit.

export const SETTINGS = [
  {
    "name": "model",
    "label": "Model",
    "meaning": "The model that answers.",
    "kind": "model",
    "group": "Answers",
    "choices": [],
    "levels": [
      "everywhere",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "policy",
    "label": "Way of compressing",
    "meaning": "When to compress and how much stays; the settings below change parts of it.",
    "kind": "choice",
    "group": "Compression",
    "choices": [
      "octavo",
      "onyx",
      "wave",
      "requirements",
      "gemini"
    ],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": true
  },
  {
    "name": "system",
    "label": "System prompt",
    "meaning": "Sent before everything else.",
    "kind": "text",
    "group": "Answers",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "auto",
    "label": "Compress automatically",
    "meaning": "Off: compressed only when a request would not fit.",
    "kind": "switch",
    "group": "Compression",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "prepare",
    "label": "Prepare from",
    "meaning": "Share of the room at which a compression starts in the background; 1: never.",
    "kind": "mark",
    "group": "Compression",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": true
  },
  {
    "name": "soft",
    "label": "Compress from",
    "meaning": "Share of the room at which the conversation is compressed between turns; 1: never.",
    "kind": "mark",
    "group": "Compression",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "hard",
    "label": "Never more than",
    "meaning": "Share of the room that no request exceeds; 1: only what cannot be sent is compressed first.",
    "kind": "mark",
    "group": "Compression",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": true
  },
  {
    "name": "retained",
    "label": "Kept word for word",
    "meaning": "How much of the newest messages stays as it is: tokens, or a share of the history below 1.",
    "kind": "amount",
    "group": "Compression",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "minimum",
    "label": "Leave alone below",
    "meaning": "Histories with fewer tokens are not compressed automatically.",
    "kind": "tokens",
    "group": "Compression",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": true
  },
  {
    "name": "recall",
    "label": "Bring back what is asked for",
    "meaning": "Bring back what a question asks for from compressed messages: `auto`, `off`, or a number of tokens.",
    "kind": "auto_tokens",
    "group": "Compression",
    "choices": [
      "auto",
      "off"
    ],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "recall_tool",
    "label": "Let the model search",
    "meaning": "Offer the model a tool that searches compressed messages; its answer then arrives all at once.",
    "kind": "switch",
    "group": "Compression",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": true
  },
  {
    "name": "reply",
    "label": "Kept free for the reply",
    "meaning": "Tokens reserved for the answer; not set: as much as the model can write.",
    "kind": "tokens",
    "group": "Answers",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "titles",
    "label": "Title by the model",
    "meaning": "Have the summariser, or else the model, write a short title after the first answer; off: the first words stay.",
    "kind": "switch",
    "group": "Answers",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "alias",
    "label": "Answered by",
    "meaning": "The model that answers in the gateway when this one is asked for.",
    "kind": "model",
    "group": "Answers",
    "choices": [],
    "levels": [
      "model"
    ],
    "advanced": true
  },
  {
    "name": "prompt",
    "label": "Form of the summary",
    "meaning": "What the summariser is asked for: one of Octavo's prompts, or a text of your own.",
    "kind": "prompt",
    "group": "Summaries",
    "choices": [
      "default",
      "code",
      "state",
      "dense",
      "chat"
    ],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "summariser",
    "label": "Who writes",
    "meaning": "Who writes summaries: a model, `same` for the one that answers, `none` for exact lines only; not set: the provider's cheap model.",
    "kind": "model",
    "group": "Summaries",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "summary_requests",
    "label": "Requests for a summary",
    "meaning": "How often a model is asked for one summary at most; then exact lines are used instead.",
    "kind": "number",
    "group": "Summaries",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": true
  },
  {
    "name": "summary_share",
    "label": "Most spent on summaries",
    "meaning": "Share of the tokens of a conversation's requests that its summaries may take together; then exact lines are used instead.",
    "kind": "mark",
    "group": "Summaries",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": true
  },
  {
    "name": "instructions",
    "label": "Always keep",
    "meaning": "What every summary must keep.",
    "kind": "text",
    "group": "Summaries",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  },
  {
    "name": "notifications",
    "label": "Say when it was compressed",
    "meaning": "Show a short message when a conversation was compressed automatically.",
    "kind": "switch",
    "group": "Summaries",
    "choices": [],
    "levels": [
      "everywhere",
      "model",
      "conversation"
    ],
    "advanced": false
  }
] as const;
