export type { ExportedEntry, ExportLine } from './archive/export-conversation.ts'
export { sweepSpool } from './audit/sweep-spool.ts'
export type { ForkOptions, SeedOptions, SeedRepair, SeedReport } from './branches.ts'
export { createStore, type StoreOptions } from './core/create-store.ts'
export type {
  BreakCause,
  Entry,
  EntryData,
  EntryKind,
  EntryOf,
  GateClosing,
  Intent,
  ModelCall,
  NewEntry,
  Note,
  RequestPart,
  RequestParts,
  Rewind,
  StoredPrefix,
  StoredUsage,
  Summary,
  TurnEnd,
  TurnStart,
} from './entry.ts'
export type {
  FeedContent,
  FeedEvent,
  FeedGateDecided,
  FeedGateOpened,
  FeedMessage,
  FeedModelCall,
  FeedProgress,
  FeedRewind,
  FeedStamp,
  FeedStoredMessage,
  FeedSummary,
  FeedThought,
  FeedToolCall,
  FeedToolInput,
  FeedTurnEnd,
  FeedTurnStart,
  FeedWarning,
} from './feed/feed-event.ts'
export type { FollowInput } from './feed/follow.ts'
export { type FollowConversationInput, followConversation } from './feed/follow-conversation.ts'
export { type StopInput, stopTurn } from './feed/stop-turn.ts'
export type { FeedDriver, FeedRequests, QueuedRow } from './feed-driver.ts'
export type {
  Gate,
  GateCause,
  GateDecision,
  GateRequest,
  GateState,
  GateVerdict,
  NewGateDecision,
} from './gate.ts'
export type {
  CoverQuery,
  GivenGrant,
  Grant,
  GrantQuery,
  GrantRequest,
  NewGrant,
} from './grant.ts'
export type { ConversationListing } from './rows/conversation-listing.ts'
export type { MetaColumn, MetaRow } from './rows/conversation-meta.ts'
export type { Redact, RedactionTarget } from './rows/redaction.ts'
export type {
  Acquired,
  AcquireRequest,
  AppendBatch,
  AppendOutcome,
  AppendPlan,
  AppendState,
  EntryRange,
  ForkOutcome,
  ForkPlan,
  GateQuery,
  GrantListing,
  LeaseRow,
  StoreDriver,
} from './rows/store-driver.ts'
export type {
  BlobRow,
  ConversationRow,
  EntryRow,
  EntryText,
  FoundText,
  GateRow,
  GrantRow,
} from './rows/store-rows.ts'
export type {
  AcquireOptions,
  Appended,
  ConversationInfo,
  ConversationQuery,
  EntryFilter,
  EntryPage,
  EntryQuery,
  FoundEntry,
  GatePage,
  HistoryPage,
  HistoryQuery,
  ImportOptions,
  ImportReport,
  Lease,
  RunnerStore,
  Store,
  VerifyFault,
  VerifyOptions,
  VerifyReport,
} from './store.ts'
export { storedResults } from './stored-results.ts'
