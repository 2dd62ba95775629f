"""The closed list of slots: what knowledge can be about so that a later value meets it.

A slot has a cardinality: of ``one`` a second value is another value of the same thing, of
``many`` it is one more. `kimi_memory.nlp.rules.slots` finds the slot of a clause.
"""

# ruff: noqa: E501  a table is read by its rows, not by its width

from __future__ import annotations

from functools import cached_property

from kimi_memory.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Definition:
    """One slot of the list."""

    name: str
    """Its name, the last part of a key: ``home`` of ``user.home``."""
    about: str
    """``person``, ``people`` (one's people and animals), ``project`` or ``any``."""
    many: bool
    english: str
    """Nouns that name it, divided by commas."""
    chinese: str
    means: str

    @cached_property
    def nouns(self) -> tuple[str, ...]:
        """The nouns of both languages."""
        parts = (*self.english.split(","), *self.chinese.split(" "))
        return tuple(part.strip() for part in parts if part.strip())


def _single_value_slot(name: str, about: str, english: str, chinese: str, means: str) -> Definition:
    return Definition(name, about, False, english, chinese, means)


def _multi_value_slot(name: str, about: str, english: str, chinese: str, means: str) -> Definition:
    return Definition(name, about, True, english, chinese, means)


_P, _R, _J, _A = "person", "people", "project", "any"
DEFINITIONS = (
    _single_value_slot("name", _A, "name,full name,first name", "名字 姓名 名称", "What somebody or something is called."),
    _single_value_slot("home", _P, "city,home,home town of residence,place of residence", "城市 家 住址 居住地 住处", "Where a person lives."),
    _single_value_slot("hometown", _P, "hometown,home town,birthplace", "老家 家乡 籍贯", "Where a person comes from."),
    _single_value_slot("address", _P, "address,home address,postal address", "地址 家庭住址", "A person's postal address."),
    _single_value_slot("job", _P, "job,job title,profession,occupation,role,position", "工作 职业 职位 岗位 头衔 职务", "What a person works as."),
    _single_value_slot("employer", _P, "employer,company,workplace", "公司 单位 雇主 东家", "For whom a person works."),
    _single_value_slot("manager", _P, "manager,boss,line manager,supervisor", "领导 老板 上级 上司 经理 主管 直属领导", "To whom a person reports."),
    _single_value_slot("school", _P, "school,university,college", "学校 大学", "Where a person studies."),
    _multi_value_slot("studies", _P, "major,field of study", "专业", "What a person studies or learns."),
    _single_value_slot("age", _P, "age", "年龄 岁数", "How old a person is."),
    _single_value_slot("birthday", _P, "birthday,date of birth,birth date", "生日 出生日期", "When a person was born."),
    _single_value_slot("phone-number", _P, "phone number,mobile number,cell number", "电话 手机号 手机号码 电话号码", "A telephone number."),
    _single_value_slot("email", _P, "email,e-mail,email address,mail address", "邮箱 邮件地址 电子邮箱", "A mail address."),
    _single_value_slot("wechat", _P, "wechat,wechat id", "微信 微信号", "A WeChat name."),
    _single_value_slot("timezone", _P, "time zone,timezone", "时区", "In which time zone a person is."),
    _multi_value_slot("languages", _P, "languages,spoken languages", "语言能力", "Which languages a person speaks."),
    _single_value_slot("native-language", _P, "native language,mother tongue,first language", "母语", "A person's first language."),
    _multi_value_slot("allergies", _P, "allergy,allergies", "过敏 过敏原 过敏源", "What a person is allergic to."),
    _single_value_slot("diet", _P, "diet", "饮食", "How a person eats: vegetarian, vegan, halal."),
    _single_value_slot("drink", _P, "drink,favourite drink,favorite drink,go-to drink,preferred drink", "饮料", "What a person drinks by habit."),
    _multi_value_slot("health", _P, "condition,illness,diagnosis", "病 疾病 病史", "Illnesses and conditions of a person."),
    _multi_value_slot("medication", _P, "medication,medicine,prescription", "药", "What a person takes for their health."),
    _single_value_slot("blood-type", _P, "blood type,blood group", "血型", "A person's blood type."),
    _single_value_slot("height", _P, "height", "身高", "How tall a person is."),
    _single_value_slot("weight", _P, "weight,body weight", "体重", "What a person weighs."),
    _single_value_slot("target-weight", _P, "goal weight,target weight", "目标体重", "What a person wants to weigh."),
    _single_value_slot("wake", _P, "alarm,alarm clock,wake-up time", "闹钟 起床时间", "When a person gets up."),
    _single_value_slot("bedtime", _P, "bedtime,bed time", "睡觉时间 就寝时间", "When a person goes to bed."),
    _single_value_slot("marital-status", _P, "marital status", "婚姻状况 婚姻状态", "Married, engaged, single, divorced."),
    _single_value_slot("salary", _P, "salary,pay,wage,income", "工资 薪水 薪资 月薪 年薪", "What a person earns."),
    _single_value_slot("rent", _P, "rent", "房租 租金", "What a person's flat costs."),
    _single_value_slot("car", _P, "car", "车 汽车 座驾", "What a person drives."),
    _single_value_slot("computer", _P, "laptop,computer,desktop,work laptop", "电脑 笔记本 笔记本电脑", "A person's computer."),
    _single_value_slot("mobile", _P, "phone,smartphone,cell phone,mobile phone", "手机", "A person's telephone."),
    _single_value_slot("keyboard", _P, "keyboard", "键盘", "A person's keyboard."),
    _single_value_slot("operating-system", _P, "operating system,os", "操作系统", "What a person's computer runs."),
    _single_value_slot("editor", _P, "editor,code editor,text editor,ide", "编辑器 代码编辑器", "What a person writes code with."),
    _single_value_slot("desk", _P, "desk,seat", "工位 座位", "Where a person sits at work."),
    _single_value_slot("shell", _P, "shell", "命令行", "A person's shell."),
    _single_value_slot("terminal", _P, "terminal,terminal emulator", "终端", "A person's terminal."),
    _single_value_slot("browser", _P, "browser", "浏览器", "A person's browser."),
    _single_value_slot("theme", _P, "theme,colour scheme,color scheme", "主题", "Dark or light, and which."),
    _single_value_slot("font-size", _P, "font size", "字号 字体大小", "How large text is to be."),
    _single_value_slot("partner", _R, "wife,husband,partner,spouse,fiance,fiancee,fiancé,fiancée,girlfriend,boyfriend", "老婆 妻子 太太 媳妇 爱人 老公 丈夫 先生 伴侣 对象 女朋友 男朋友 女友 男友 未婚妻 未婚夫", "The person one lives with."),
    _single_value_slot("mother", _R, "mother,mum,mom", "妈妈 母亲 妈", "A person's mother."),
    _single_value_slot("father", _R, "father,dad", "爸爸 父亲 爸", "A person's father."),
    _multi_value_slot("sister", _R, "sister,older sister,younger sister,big sister,little sister", "姐姐 妹妹 姐 妹", "A person's sisters."),
    _multi_value_slot("brother", _R, "brother,older brother,younger brother,big brother,little brother", "哥哥 弟弟 哥 弟", "A person's brothers."),
    _multi_value_slot("daughter", _R, "daughter", "女儿 闺女", "A person's daughters."),
    _multi_value_slot("son", _R, "son", "儿子", "A person's sons."),
    _multi_value_slot("child", _R, "child,kid,baby,children,kids", "孩子 小孩 娃 宝宝", "A person's children."),
    _multi_value_slot("grandmother", _R, "grandmother,grandma,granny", "奶奶 外婆 姥姥", "A person's grandmothers."),
    _multi_value_slot("grandfather", _R, "grandfather,grandpa,granddad", "爷爷 外公 姥爷", "A person's grandfathers."),
    _multi_value_slot("relative", _R, "uncle,aunt,cousin,nephew,niece,mother-in-law,father-in-law,sister-in-law,brother-in-law", "叔叔 阿姨 舅舅 姑姑 表哥 表姐 表弟 表妹 堂哥 堂弟 侄子 侄女 外甥 婆婆 公公 岳母 岳父", "Further family."),
    _multi_value_slot("friend", _R, "friend,best friend,neighbour,neighbor,roommate,flatmate", "朋友 好朋友 闺蜜 邻居 室友", "A person's friends and neighbours."),
    _multi_value_slot("colleague", _R, "colleague,coworker,co-worker,teammate,assistant,designer,tester,accountant,lawyer", "同事 队友 助理 设计师 测试员 会计 律师", "People somebody works with."),
    _single_value_slot("doctor", _R, "doctor,gp,dentist,therapist,vet", "医生 牙医 家庭医生 兽医", "Who treats a person."),
    _single_value_slot("landlord", _R, "landlord,landlady", "房东", "Who lets a person's flat."),
    _multi_value_slot("dog", _R, "dog,puppy", "狗 小狗 狗狗", "A person's dogs."),
    _multi_value_slot("cat", _R, "cat,kitten", "猫 小猫 猫咪 猫猫", "A person's cats."),
    _multi_value_slot("pet", _R, "pet,rabbit,parrot,hamster,turtle,tortoise,horse,goldfish,guinea pig", "宠物 兔子 鹦鹉 仓鼠 乌龟 马 金鱼", "A person's other animals."),
    _single_value_slot("preference", _P, "", "", "Which of two things a person likes better, by the two."),
    _single_value_slot("appointment", _A, "appointment,check-up,checkup,interview", "预约 体检 面试", "When an appointment is, by what it is."),
    _single_value_slot("deadline", _A, "deadline,due date,cut-off date", "截止日期 截止时间 截止 期限 交付日期 交付时间 死线", "By when something is due, by what it is."),
    _single_value_slot("budget", _A, "budget", "预算", "How much money there is for something."),
    _single_value_slot("fee", _A, "fee,monthly fee,membership fee,tuition,mortgage,deposit", "学费 会费 月费 房贷 押金 宽带费", "What something costs a person."),
    _single_value_slot("database", _J, "database,db,data store,datastore", "数据库", "Where a project keeps its data."),
    _single_value_slot("cache", _J, "cache,caching layer", "缓存", "What a project caches with."),
    _single_value_slot("queue", _J, "queue,message queue,task queue,message broker", "消息队列 队列 任务队列", "What carries a project's messages."),
    _single_value_slot("search-engine", _J, "search engine", "搜索引擎 全文检索", "What a project searches with."),
    _single_value_slot("backend", _J, "backend,back end,back-end,server side", "后端 服务端", "What the backend is made with."),
    _single_value_slot("frontend", _J, "frontend,front end,front-end,ui framework", "前端", "What the frontend is made with."),
    _single_value_slot("framework", _J, "framework,web framework", "框架", "The framework of a project."),
    _single_value_slot("language", _J, "programming language,language", "编程语言 开发语言", "The language a project is written in."),
    _single_value_slot("package-manager", _J, "package manager", "包管理器 包管理", "What installs a project's packages."),
    _single_value_slot("build-tool", _J, "build tool,bundler,build system", "构建工具 打包工具", "What builds a project."),
    _single_value_slot("testing", _J, "test framework,testing framework,test runner,test tool,testing tool,tests", "测试框架 测试工具 测试", "What a project is tested with."),
    _single_value_slot("linter", _J, "linter", "代码检查 检查器 静态检查", "What checks a project's code."),
    _single_value_slot("formatter", _J, "formatter,code formatter", "格式化工具 代码格式化", "What formats a project's code."),
    _single_value_slot("ci", _J, "ci,ci system,continuous integration,ci pipeline,pipeline", "CI 持续集成 流水线", "Where a project's checks run."),
    _single_value_slot("deploy-target", _J, "deploy target,deployment target,deployment platform,deployment", "部署目标 部署平台 部署环境 部署", "Where a project is deployed to."),
    _single_value_slot("deploy-time", _J, "deploy time,deployment time,deploy window,deployment window,deploy day", "部署时间 上线时间 发布窗口 部署窗口", "When a project is deployed."),
    _single_value_slot("release-day", _J, "release day,release date,ship date,launch date", "发布日期 发布日 上线日期 发版日", "When a project is released."),
    _single_value_slot("hosting", _J, "hosting,hosting provider,server,cloud provider", "托管 服务器 云主机 云服务商 机房", "Where a project runs."),
    _single_value_slot("host", _J, "host,hostname,host name", "主机 主机名", "The host of a service."),
    _single_value_slot("port", _J, "port,port number", "端口 端口号", "The port of a service."),
    _single_value_slot("region", _J, "region,cloud region", "区域 可用区", "The region of a service."),
    _single_value_slot("domain", _J, "domain,domain name", "域名", "The domain of a service."),
    _single_value_slot("repo", _J, "repo,repository,code repository,git repository", "仓库 代码仓库 仓库地址 代码库 代码", "Where a project's code lies."),
    _single_value_slot("branch", _J, "default branch,main branch,release branch,branch", "默认分支 主分支 发布分支 分支", "A branch of a project."),
    _single_value_slot("license", _J, "license,licence,open source license", "许可证 开源协议 协议", "A project's licence."),
    _single_value_slot("login", _J, "login,auth,authentication,sign-in", "登录 认证 登录方式 认证方式", "How people sign in."),
    _single_value_slot("api-style", _J, "api style", "接口风格", "REST, GraphQL, gRPC."),
    _single_value_slot("logging", _J, "logging,logging library", "日志 日志库", "What a project logs with."),
    _single_value_slot("log-format", _J, "log format,logging format", "日志格式", "How log lines look."),
    _single_value_slot("indentation", _J, "indentation,indent", "缩进", "Tabs or spaces, and how many."),
    _single_value_slot("date-format", _J, "date format", "日期格式", "How dates are written."),
    _single_value_slot("image-format", _J, "image format", "图片格式", "In which format images are kept."),
    _single_value_slot("owner", _J, "owner,product owner,project owner,maintainer,lead,project lead,tech lead", "负责人 维护者 产品负责人 技术负责人 组长", "Who answers for a project."),
    _single_value_slot("version", _J, "version", "版本 版本号", "Which version is in use."),
    _single_value_slot("timeout", _J, "timeout,time-out,time out", "超时 超时时间 超时时长", "How long something waits."),
    _single_value_slot("retention", _J, "retention,retention period,backups", "保留期 保留时间 保留期限 保留天数 备份", "How long something is kept."),
    _single_value_slot("rate-limit", _J, "rate limit", "限流 速率限制", "How often a caller may call."),
    _single_value_slot("upload-limit", _J, "upload limit,size limit,file size limit", "上传上限 上传限制 大小限制", "How large an upload may be."),
    _single_value_slot("meeting", _J, "standup,stand-up,meeting,weekly meeting,team meeting", "例会 周会 站会 会议", "When a team meets."),
    _single_value_slot("code-name", _J, "code name,codename", "代号", "What a project is called inside."),
    _single_value_slot("mascot", _J, "mascot", "吉祥物", "The mascot of a project."),
    _single_value_slot("stack", _J, "stack,tech stack", "技术栈", "What a project is made with."),
    _single_value_slot("orm", _J, "orm", "ORM 对象映射", "What maps rows to objects."),
    _single_value_slot("styling", _J, "css framework,styling", "样式 样式框架", "What styles a project's pages."),
    _single_value_slot("monitoring", _J, "monitoring,monitoring tool", "监控 监控工具", "What watches a project."),
)  # fmt: skip
"""Every slot, the person's first."""

BY_NAME = {one.name: one for one in DEFINITIONS}
# Reversed, so that of two definitions with one noun the first of the list stays.
NOUNS = {noun.lower(): one for one in reversed(DEFINITIONS) for noun in one.nouns}
"""The definition each noun names."""

_TOOLS = """
database: postgres postgresql mysql sqlite mongodb mongo mariadb duckdb cockroachdb oracle dynamodb cassandra clickhouse tidb
cache: redis memcached valkey | queue: rabbitmq kafka celery nats sqs pulsar rocketmq | search-engine: elasticsearch meilisearch opensearch typesense
frontend: react vue svelte angular htmx solid nextjs nuxt taro uni-app | backend: fastapi flask django express rails laravel gin nestjs
package-manager: npm pnpm yarn poetry uv pip pipenv cargo conda | build-tool: webpack vite rollup esbuild turbopack bazel
testing: pytest unittest jest vitest mocha playwright cypress | linter: ruff eslint pylint flake8 biome clippy
ci: jenkins github-actions gitlab-ci circleci buildkite travis drone | deploy-target: heroku fly.io vercel netlify kubernetes
editor: vim neovim emacs helix zed vscode pycharm sublime | license: mit apache gpl bsd mpl
login: oauth jwt saml keycloak auth0 | orm: sqlalchemy prisma hibernate gorm | language: rust golang typescript kotlin python java
"""
TOOLS = {
    tool: name.strip()
    for part in _TOOLS.replace("\n", "|").split("|")
    if part.strip()
    for name, _, tools in [part.partition(":")]
    for tool in tools.split()
}
"""What a tool by its name is a value of."""
