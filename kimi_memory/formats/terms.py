"""What the values of notes, links and jobs are called for people, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

TERMS: Mapping[str, tuple[str, str]] = {
    # Types of cards and events
    "concept": ("concept", "概念"),
    "pattern": ("pattern", "做法"),
    "gotcha": ("gotcha", "陷阱"),
    "decision": ("decision", "决策"),
    "fact": ("fact", "事实"),
    "preference": ("preference", "偏好"),
    "rule": ("rule", "规则"),
    "entity": ("entity", "人与物"),
    "task-state": ("task", "任务状态"),
    "finding": ("finding", "发现"),
    "failure": ("failure", "失败"),
    "success": ("success", "成功"),
    # States
    "active": ("held true", "认定中"),
    "stale": ("stale", "陈旧"),
    "candidate": ("waits", "待审"),
    "conflicted": ("in conflict", "冲突中"),
    "superseded": ("was so", "曾经"),
    "archived": ("forgotten", "已忘"),
    "hot": ("hot", "热"),
    "warm": ("warm", "温"),
    "cold": ("cold", "冷"),
    "human": ("a person's word", "人说的"),
    "agent": ("an agent's word", "模型说的"),
    "tool": ("a tool's word", "工具说的"),
    "import": ("imported", "导入的"),
    "remote": ("from elsewhere", "外来的"),
    # Relations of links
    "RELATES_TO": ("has to do with", "相关"),
    "DEPENDS_ON": ("depends on", "依赖"),
    "CAUSED_BY": ("caused by", "起因"),
    "SIMILAR_TO": ("like", "相似"),
    "CONTRADICTS": ("contradicts", "矛盾"),
    "TEMPORAL_NEXT": ("then", "之后"),
    "EXTRACTED_FROM": ("taken from", "取自"),
    # What a purge counts
    "count_files": ("files", "文件"),
    "count_notes": ("notes", "笔记"),
    "count_lines": ("lines", "行"),
    "count_private": ("private files", "私有文件"),
    "count_objects": ("objects", "对象"),
    "count_commits": ("commits", "提交"),
    # What became of a note
    "change_learned": ("learned", "学到"),
    "change_proposed": ("proposed", "提议"),
    "change_changed": ("changed", "改了说法"),
    "change_removed": ("removed", "移除"),
    "change_moved": ("moved", "移动"),
    "change_evidence": ("new evidence", "新的依据"),
    "change_disputed": ("disputed", "有争议"),
    "change_let go": ("let go", "放下"),
    "change_stale": ("grew stale", "变陈旧"),
    "change_settled": ("settled", "已定"),
    "change_taken up": ("taken up again", "又拾起"),
    "change_confirmed": ("confirmed", "已确认"),
    "change_edited": ("edited", "编辑过"),
    "change_surer": ("surer", "更确信"),
    "change_less sure": ("less sure", "不太确信"),
    "change_dated": ("dated anew", "改了日期"),
}
