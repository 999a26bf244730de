# Scripts that run tests read this file. It sets the regular expressions of the rows into which the tests are divided. Tests
# of one row run one after the other.
# shellcheck shell=bash disable=SC2034
wakeups='^(PulseOutputTests\.|AcceptanceTests\.Acceptance/)WakeupTests/'
programs="^RepositoryTests\.|$wakeups"
bridges='^(BridgeTests|MPRISTests)\.'
# The library with its own program: its requests, and its scans and lists.
questions='^LibraryTests\.'
library='^LibraryRuntimeTests\.'
# These measure loudness at the lowest priority, which waits on a busy machine.
levels='^(AudioDecodersTests\.LoudnessReadingTests/|LibraryRuntimeTests\.Loudness(Desk|Measuring)Tests/|AcceptanceTests\.Acceptance/MeasuringBesideTests/)'
# These count wakeups of the library, which each mount of a disk by another test wakes.
rest='^(LibraryTests|LibraryRuntimeTests)\.(.*/atRest|OwnFolderTests/)'
# The bridges for pages and for clients of MPD, with their own programs.
doors='^(WebBridgeTests|WebSecurityTests|MPDBridgeTests)\.'
# Pure tests that occupy one thread for long: half of the time of all pure tests.
engine='^(PlaybackEngineTests|ClientTests)\.'
names='ActiveSession|Artwork|ClockPage|Codec|Command|DamageCampaign|Fault|Interruption|Item|KillCampaign|ManyItems'
names+='|Feedback|FeedbackCampaign|MediaRoot|Mode|LinkLoudness|MeasuredLoudness|PipeWireFault|Playlist|PowerCut|Queue'
names+='|QueueChanges|QueuePage|OutputChoice|OutputDelay|RandomFault|Random|Refusal|Seam'
names+='|NetworkSource|ClockCrowd|ClockKill|Session|SessionFight|SettingsReload|Soak|State|StateDisk|Timer'
daemon="^AcceptanceTests\.Acceptance/($names)Tests/"
deaths='^AcceptanceTests\.Acceptance/(Device|FailingDisk|SlowDisk|PoisonedPosition|QueueFile)Tests/'
numbers='^AcceptanceTests\.Acceptance/(ChildJoin|Hang|NumberTable)Tests/'
pipes='^AcceptanceTests\.Acceptance/(MixedFile|Pipe|ServerCampaign|Title)Tests/'
samples='^(PulseOutputTests\.|MixedOutputTests\.|AcceptanceTests\.Acceptance/)(BitExact|CommandTable|Conformance|FileSink|Mark'
samples+='|MediaAway'
samples+='|LateItem|ManyClients|NullAndFile|Opinion|PipeOutput|SilentSeek|SnapcastOutput|PulseFault)Tests/'
crafted='^(PulseOutputTests\.|AcceptanceTests\.Acceptance/)(CraftedFile|Rate|ServerDeath|Sleep|Suspension)Tests/'
recorded='^AcceptanceTests\.Acceptance/CrossfadeTests/'
events='^AcceptanceTests\.Acceptance/CrossfadeEventTests/(announcement|jumps|killedServer|pause|pipeWire)'
announced='^AcceptanceTests\.Acceptance/((AnnouncementTable|Fade|MPDSound)Tests/|CrossfadeEventTests/samples)'
edits='^AcceptanceTests\.Acceptance/(Edit|Playback)Tests/'
delays='^AcceptanceTests\.Acceptance/MeasuredDelayTests/'
# With the real snapserver: a part of the tests of clients.
rooms='^AcceptanceTests\.Acceptance/(MixedSound|Snapcast(Away|Clients|Picture|Plugin|Rooms|Time)?)Tests/'
# A cable that is pulled, with every program beside it.
links='^AcceptanceTests\.Acceptance/LinkTests/'
clock='^AcceptanceTests\.Acceptance/ClockStepTests/'
# Hundreds of clients at each bound, and the time of the owner's answer beside them.
crowds='^(AcceptanceTests\.Acceptance/(Crowd|MPDBound)|WebSecurityTests\.Bound)Tests/'
# Servers that behave badly: they wait most of the time.
servers='^AcceptanceTests\.Acceptance/BadServerTests/'
outside='^(PulseOutputTests|MixedOutputTests|AcceptanceTests)\.'
# All tests of `outside` that have a row of their own.
others="$daemon|$deaths|$numbers|$pipes|$wakeups|$samples|$crafted|$recorded|$events|$announced|$edits|$delays|$clock|$crowds|$rooms|$servers|$links|$levels"
# The targets whose tests need neither programs nor files of the repository: Scripts/cross builds them for arm64.
portable='NowPlayingTests AudioCoreTests ControlProtocolTests MPDProtocolTests WebProtocolTests ChildDecodingTests ControlServerTests'
portable+=' LinuxSystemTests ArtworkLookupTests StateKeepingTests MixedOutputTests TrackDatabaseTests MediaAccessTests PlaybackEngineTests'
