"""Nouns that name what is said of a thing, the same in Chinese and in English.

A noun is made of words: 内存上限 is 内存 and 上限, as "memory limit" is. Where every part
stands in the lexicon, the noun has its English name; otherwise it keeps its own.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from functools import lru_cache

from kimi_memory.nlp.basic.patterns import fold_case, regex

# Chinese words by the English one; what stands for the same is one entry.
_WORDS = """
account=账号 账户|address=地址|admin=管理员|alarm=闹钟|alert=告警 报警 警报|amount=金额 数额|app=应用|approval=审批
archive=归档|artist=艺术家 艺人|asset=资产|audit=审计|author=作者|backup=备份|bank=银行|base=基础 基准|batch=批次 批量|biggest=最大
bike=自行车|birthday=生日|blog=博客|book=书|brand=品牌|browser=浏览器|bucket=存储桶|budget=预算|build=构建 编译|bus=总线
cache=缓存|calendar=日历|capacity=容量|car=车 汽车|certificate=证书|channel=频道 渠道|chart=图表|city=城市|class=班级 课程|client=客户端
cloud=云|cluster=集群|code=代码|color=颜色 色 色调|colour=颜色|command=命令|commit=提交|company=公司|concurrency=并发 并发数|config=配置
configuration=配置|contact=联系人|container=容器|contract=合同|cost=成本 费用|count=次数 数量 个数 数目|country=国家|coverage=覆盖率|currency=货币 币种|customer=客户 顾客|daily=每日 日
data=数据|database=数据库|date=日期|day=日|deadline=截止日期 截止时间 截止日 交付日期|default=默认 缺省|department=部门|deploy=部署|deployment=部署|designer=设计师 设计人|device=设备
direct=直接|directory=目录|disk=磁盘 硬盘|doctor=医生|document=文档|domain=域名|driver=驱动|duration=时长|editor=编辑器|email=邮箱|encoding=编码|encryption=加密
end=结束|endpoint=端点|engine=引擎|environment=环境|error=错误|event=活动|expiry=到期|extension=分机|favourite=最喜欢 最爱|fee=费 费用|file=文件|flag=标志|floor=楼层
folder=文件夹|font=字体|food=食物 菜|format=格式|framework=框架|frequency=频率|gateway=网关|goal=目标|group=组 群 群组|gym=健身房|head=主管|height=高度 身高|hobby=爱好|hometown=老家 家乡
host=主机 宿主|hostname=主机名|hotel=酒店|hour=小时 时|icon=图标|image=镜像 图片|index=索引|input=输入|insurance=保险|interval=间隔|invoice=发票|job=任务|key=键|kernel=内核
language=语言|laptop=笔记本 笔记本电脑|launch=上线|leader=组长 负责人|length=长度|level=级别 等级|library=库|license=许可证 许可 授权|limit=上限 限制 限额 上限值|linter=检查器|location=位置 地点 所在地
log=日志|logo=标志 徽标|machine=机器|main=主|maintainer=维护者 维护人|manager=经理 管理器 管理者|max=最高 最多|maximum=最大|mail=邮件|mascot=吉祥物|meeting=会议 会|memory=内存|menu=菜单|message=消息
method=方法|middleware=中间件|min=最小 最少 最低|mode=模式|model=模型 型号|monitor=显示器 监控|month=月|monthly=每月 月度|motto=口号 座右铭|name=名 名称 名字|namespace=命名空间|network=网络|nickname=昵称 外号|node=节点
number=号 编号 号码|office=办公室|official=官方|operating=操作|order=订单|output=输出|owner=负责人|package=包|page=页 页面|parser=解析器|partner=合作伙伴 伙伴|password=密码|path=路径|payment=支付 付款
period=期限 周期 期|phone=电话 手机|plan=套餐 方案|platform=平台|policy=策略 政策|pool=池|port=端口|price=价格 单价 售价|printer=打印机|priority=优先级|process=进程|producer=制作人|product=产品|production=生产 线上 正式
project=项目|protocol=协议|provider=服务商 供应商 提供商 商|proxy=代理|quarter=季度|queue=队列|quota=配额|rate=速率 率 费率|ratio=比例 比率|region=区域 地区|registry=仓库|release=发布 发版|rent=房租 租金|replica=副本
repository=仓库 代码库|resolution=分辨率|restaurant=餐馆 餐厅|retention=保留|retry=重试|review=评审|role=职位 角色 岗位|room=房间 室|router=路由器|salary=工资 薪水 薪资|sales=销售|schema=模式|school=学校|screen=屏幕|script=脚本
search=搜索|seat=座位|season=季节|secret=密钥|server=服务器|service=服务|session=会话|shard=分片|shell=终端|shift=班 班次|shoe=鞋|shop=店 商店|size=大小 尺寸 码 尺码 号|slogan=口号|song=歌|source=源 来源|speed=速度|sport=运动
sponsor=赞助商|staging=预发 预发布|standup=站会|start=开始 启动|status=状态|storage=存储|style=风格 样式|supplier=供应商|support=支持|system=系统|table=表 桌|tag=标签|target=目标|tax=税|team=团队|tenant=租户|test=测试|theme=主题
thread=线程|threshold=阈值 门槛|ticket=工单 票|time=时间|timeout=超时 超时时间|timezone=时区|title=标题 头衔|token=令牌|tool=工具|topic=主题|train=火车|tutor=导师|type=类型|unit=单位|update=更新|upload=上传|user=用户|vendor=供应商
venue=场地 会场 地点|version=版本 版本号|video=视频|volume=卷 音量|warehouse=仓库|website=网站 官网|week=周|weekly=每周 周|weight=权重 体重|wifi=无线|window=窗口 时段|worker=工作进程|year=年|yearly=每年 年度|download=下载|smallest=最小
"""
_SAME_EN = {
    "configuration": "config", "directory": "folder", "maximum": "max", "maximal": "max", "colour": "color",
    "favorite": "favourite", "licence": "license", "hostname": "host-name", "telephone": "phone", "minimum": "min",
    "timeslot": "window", "deployment": "deploy", "releases": "release", "repo": "repository", "mobile": "phone",
    "weekday": "day", "backups": "backup", "tests": "test", "testing": "test", "logs": "log", "meet-up": "meetup",
}  # fmt: skip
_NEUTRAL = regex(
    r"^(?:(?:current|present|actual|new|newest|latest|official|usual|overall|old|own|exact|final|precise) )+(?=\w)"
    r"|^(?:现在的?|目前的?|新的?|最新的?|当前的?|官方的?|具体的?|最终的?)(?=[\u3400-\u9fff]{2})"
)
_NAMED = regex(r"'s name$")
_ABOUT = regex(r"(?:信息|情况|资料|数据)$")


@lru_cache(maxsize=1)
def _build_lexicon() -> dict[str, str]:
    entries = (entry.partition("=") for line in _WORDS.split("\n") for entry in line.split("|"))
    found: dict[str, str] = {}
    for name, _, words in entries:
        for word in words.split():
            found.setdefault(word, name)
    return found


def plain_noun(noun: str) -> str:
    """Return a noun folded, without words that tell no thing from another."""
    low = fold_case(noun).strip()
    return _NEUTRAL.sub("", low) or low


def about(noun: str) -> str:
    """Return what something is known about: 端口信息 is what is known of the 端口."""
    return _ABOUT.sub("", noun)


@lru_cache(maxsize=4096)
def english(noun: str) -> str:
    """Return the English words of a noun, or the noun where a part has none."""
    plain = plain_noun(noun)
    if plain.isascii():
        # My dog's name is what my dog is called.
        bare = _NAMED.sub("", plain).replace("'s ", " ")
        return " ".join(_SAME_EN.get(word, word) for word in bare.split())
    run = plain.replace("的", "")
    words = _split_compound(run, _build_lexicon()) or _split_compound(about(run), _build_lexicon())
    return " ".join(_SAME_EN.get(word, word) for word in words) if words else plain


@lru_cache(maxsize=4096)
def is_lexical(noun: str) -> bool:
    """Whether every word of a noun, which are at least two, stands in the lexicon."""
    words = english(noun).split()
    known = (
        frozenset(_build_lexicon().values()) | frozenset(_SAME_EN) | frozenset(_SAME_EN.values())
    )
    return len(words) > 1 and all(word in known for word in words)


def _split_compound(run: str, lexicon: dict[str, str]) -> list[str]:
    """Return the entries a run of characters is made of, the longest first; none if some is not."""
    if not run:
        return []
    # No word of the lexicon is longer than six characters. The longest first: 版本号 is one word,
    # not 版本 and 号.
    for length in range(min(6, len(run)), 0, -1):
        word = lexicon.get(run[:length])
        rest = _split_compound(run[length:], lexicon) if word else []
        if word and (rest or length == len(run)):
            return [word, *rest]
    return []
